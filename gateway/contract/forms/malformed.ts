// Makes the refusal of a form that readers could take apart in more than one way.

import { GatewayError } from '../../catalogue/errors.ts';

/** Names of the sentences that `malformed_form` has in the catalogue. */
type FormFault =
  | 'escape'
  | 'semicolon'
  | 'boundary'
  | 'delimiter'
  | 'part_headers'
  | 'disposition'
  | 'nested'
  | 'encoding'
  | 'unfinished';

/** Returns the refusal of a malformed form. @param byteOffset place of the fault in the body, if it has one */
export function malformedForm(hint: FormFault, byteOffset?: number): GatewayError {
  return new GatewayError('malformed_form', { hint, fields: { byte_offset: byteOffset } });
}
