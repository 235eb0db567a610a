// Operations about the use of an organization.

import type { Handlers } from './call.ts';

export const USAGE: Handlers = {};
