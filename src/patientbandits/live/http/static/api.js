// The service's own API, asked with the key of this tab.
export const key = () => sessionStorage.getItem("key");
export const keepKey = (text) => sessionStorage.setItem("key", text);
export const forgetKey = () => sessionStorage.removeItem("key");

async function answered(path, options = {}) {
  const headers = { ...options.headers };
  if (key()) headers.authorization = `Bearer ${key()}`;
  const answer = await fetch(path, { ...options, headers });
  if (answer.ok) return answer.json();
  const problem = await answer.json().catch(() => ({}));
  const words = problem.detail ?? problem.title ?? answer.statusText;
  throw Object.assign(new Error(words), { status: answer.status });
}

export const ask = (path) => answered(path);
export const pathOf = (name) => `/v1/experiments/${encodeURIComponent(name)}`;
export const change = (name, changes) =>
  answered(pathOf(name), {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(changes),
  });
