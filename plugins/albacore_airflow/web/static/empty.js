// Wait until there is something to show, then show it.
import { get, part, repeat, root } from "./api.js";
import { $ } from "./dom.js";

const { dag, dagRun } = $("content").dataset;

repeat(async () => {
  let found = null;
  if (dagRun) found = (await get(`dags/${part(dag)}/dag-runs/${part(dagRun)}`)).run;
  else found = (await get(`dags/${part(dag)}/runs`)).runs[0]?.run;
  if (!found) return true;
  location.replace(`${root}/dags/${part(dag)}/runs/${part(found)}/convergence`);
  return false;
}, 3);
