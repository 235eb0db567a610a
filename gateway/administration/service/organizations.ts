// Operations about organizations, for operators.

import type { Handlers } from './call.ts';

export const ORGANIZATIONS: Handlers = {};
