// Reads data from the gateway, with the admin token where one is needed.

/** Stored for this tab only, until it is closed. */
const TOKEN = 'admin-token';
/** Collecting the data of a worker may take a second. */
const PATIENCE_MS = 8000;

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;
export const setToken = (token) => sessionStorage.setItem(TOKEN, token);
export const forgetToken = () => sessionStorage.removeItem(TOKEN);

/** The admin token is missing or wrong. */
export class Unauthorized extends Error {}

/** Resolves with the answer, or undefined if there is nothing at the path. Throws Unauthorized, and an error if there is no answer. */
export async function read(path, params = {}) {
  const wanted = Object.entries(params).filter(([, value]) => value !== undefined && value !== '');
  const query = new URLSearchParams(wanted).toString();
  const token = sessionStorage.getItem(TOKEN);
  const answer = await fetch(`/console/${path}${query === '' ? '' : `?${query}`}`, {
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    cache: 'no-store',
    credentials: 'omit',
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.ok) return answer.json();
  await answer.arrayBuffer();
  if (answer.status === 401) throw new Unauthorized();
  if (answer.status === 404) return undefined;
  throw new Error(`status ${answer.status}`);
}
