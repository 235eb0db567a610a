// What the receivers of a body return to the relay for a chunk and for the end of the body (relay.ts).

import type { GatewayError } from '../../catalogue/errors.ts';

/**
 *   undefined    the body continues
 *   `first`      the first chunk is held back until all chunks of the same read have arrived; the relay then releases it
 *   `complete`   the rest of the answer is on its way to the client
 *   an error     the client gets this refusal instead
 *   a promise    the answer is being stored. The relay then releases it, if the attempt has not ended
 */
export type Received = undefined | 'first' | 'complete' | GatewayError | Promise<Release>;

/** Sends to the client what was held back. */
export type Release = () => Received;
