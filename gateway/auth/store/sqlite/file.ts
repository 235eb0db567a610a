// The name of the file of the embedded key store.

/** In the data directory. */
export const KEY_STORE_FILE = 'gateway.db';
