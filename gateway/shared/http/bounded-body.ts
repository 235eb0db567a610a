// Reads the body of an answer of `fetch`, up to a bound. `fetch` itself reads bodies of any length, also those that grow by decompression.

/** Resolves with the whole body; with undefined, and without the rest of the body, if it is longer. Rejects with the error of the connection. */
export async function boundedBody({ body }: Pick<Response, 'body'>, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
