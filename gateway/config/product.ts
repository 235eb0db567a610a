// The products that the trial of an upstream has a table for. No request depends on the product: what a service needs is declared in rules.

import { z } from 'zod';

export const product = z.literal('stalwart', { error: 'must be stalwart, or absent' }).optional().meta({
  description:
    'The product behind the entry: `upstreams try` then shows whether the steps of [its page](mail.md#try-it) hold. It changes no request.',
  values: '`stalwart`',
});
