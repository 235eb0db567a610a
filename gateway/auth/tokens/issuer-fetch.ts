// Asks an issuer for its keys: one GET that believes as little as possible of what comes back.

const BODY_BYTES_MAX = 1_048_576;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/** The body of the answer. Rejects with a reason for operators: unreachable, too slow, another status than 200, no JSON, too long. */
export async function fetchKeySet(url: string, signal: AbortSignal): Promise<string> {
  try {
    // A redirect is an answer like any other that is not 200: where keys come from is said in the configuration alone.
    const answer = await fetch(url, { signal, redirect: 'manual', headers: { accept: 'application/json' } });
    return await readBody(answer);
  } catch (cause) {
    throw new Error(reasonOf(cause), { cause });
  }
}

async function readBody({ status, headers, body }: Response): Promise<string> {
  const wrong = wrongAbout(status, headers.get('content-type') ?? '');
  if (wrong !== undefined) {
    await body?.cancel();
    throw new Error(wrong);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new Error(`its answer is longer than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function wrongAbout(status: number, type: string): string | undefined {
  if (status !== 200) return `it answered with status ${status}`;
  return JSON_TYPE.test(type) ? undefined : 'its answer is not declared to be JSON';
}

/** What fetch itself throws says "fetch failed" and has the reason as its cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === 'TimeoutError') return 'it did not answer in time';
  const { code, message } = (thrown.cause ?? thrown) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}
