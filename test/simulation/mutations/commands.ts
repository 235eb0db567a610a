// Defects in what gateways do for the commands of operators on certificates.

import { of } from './mutation.ts';

export const COMMANDS = of('certificates', [
  [
    'an order in progress grants a revocation',
    'acme/jobs.ts',
    "...change('asked', id, undefined),\n    });\n    onEvent({ kind: 'issued'",
    "...change('asked', id, undefined), ...change('revocation', id, { certificate: '', by, atMs: 0, doneAtMs: 1 }),\n    });\n    onEvent({ kind: 'issued'",
  ],
  [
    'the certificate in use is revoked in place of the one that was',
    'acme/jobs.ts',
    'new X509Certificate(asked.certificate)',
    "new X509Certificate(recordIn(this.#records(), 'certificate', id)?.certificate ?? asked.certificate)",
  ],
  [
    'a revoked certificate stays in use',
    'acme/jobs.ts',
    'record?.certificate === asked.certificate;',
    '(false as boolean);',
  ],
  [
    'a request to order stays after it is granted',
    'acme/jobs.ts',
    "...change('asked', id, undefined),\n    });\n    onEvent({ kind: 'issued'",
    "});\n    onEvent({ kind: 'issued'",
  ],
]);
