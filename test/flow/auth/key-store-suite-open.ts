// How the suite gets the store it looks at.

import type { TestContext } from 'node:test';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import type { Awaitable } from '../../../gateway/shared/awaitable.ts';

/** An empty store, its clock at START_MS, made with the pepper of the samples. It may have been closed when the test ends. */
export type Open = (test: TestContext) => Awaitable<KeyStore>;
