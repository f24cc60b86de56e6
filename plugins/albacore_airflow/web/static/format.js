// Numbers and times for people. What is not known is a dash; it is never shown as 0.
export const DASH = "–";
const known = (value) => typeof value === "number" && Number.isFinite(value);

export const number = (value, digits = 4) => {
  if (!known(value)) return DASH;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: size >= 10 ** digits ? 15 : digits, maximumFractionDigits: size >= 10 ** digits ? 0 : 20 });
};
export const figure = (value, unit) => (known(value) ? `${number(value)}${unit ? ` ${unit}` : ""}` : DASH);
export const percent = (value, digits = 1) => (known(value) ? `${(100 * value).toFixed(digits)} %` : DASH);
export const times = (value) => (known(value) ? `${value.toFixed(2)}×` : DASH);

export function duration(seconds) {
  if (!known(seconds)) return DASH;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} d`;
}

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const moment = (epoch) => (known(epoch) ? clock.format(new Date(epoch * 1000)) : DASH);

// The value that a datetime-local field takes: local time without a zone.
export function local(epoch) {
  const at = new Date(epoch * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}
