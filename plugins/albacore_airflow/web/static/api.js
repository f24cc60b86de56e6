// Asking the server. An answer that is no success becomes an Error whose message says what to do.
export const root = document.documentElement.dataset.root;
// Where Airflow itself is: the pages are mounted one step below it.
export const airflowRoot = root.replace(/\/[^/]*$/, "");

async function said(answer) {
  if (answer.ok) return answer.json();
  let detail = "";
  try {
    const body = await answer.json();
    detail = typeof body.detail === "string" ? body.detail : (body.detail ?? []).map((d) => d.msg).join("; ");
  } catch {
    // no JSON: the status has to do
  }
  if (answer.status === 401) detail = "You are signed out. Reload the page to sign in again.";
  const error = new Error(detail || `The server answered ${answer.status}.`);
  error.status = answer.status;
  throw error;
}

export const get = async (path) => said(await fetch(`${root}/data/${path}`, { headers: { accept: "application/json" } }));

const send = async (address, body) =>
  said(
    await fetch(address, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(body),
    }),
  );

export const post = (path, body) => send(`${root}/${path}`, body);

// Airflow's own REST API, as the user who is signed in.
export const airflow = {
  get: async (path) => said(await fetch(`${airflowRoot}/api/v2/${path}`, { headers: { accept: "application/json" } })),
  post: (path, body) => send(`${airflowRoot}/api/v2/${path}`, body),
};

export const part = encodeURIComponent;

// Call again and again while the page is seen; one call at a time, and slower when the server does not answer.
export function repeat(work, seconds) {
  let failures = 0;
  const turn = async () => {
    if (document.visibilityState === "visible") {
      try {
        const go = await work();
        failures = 0;
        if (go === false) return;
      } catch {
        failures = Math.min(failures + 1, 5);
      }
    }
    setTimeout(turn, seconds * 1000 * 2 ** failures);
  };
  setTimeout(turn, seconds * 1000);
}
