// Operations about the keys of an organization.

import type { Handlers } from './call.ts';

export const KEYS: Handlers = {};
