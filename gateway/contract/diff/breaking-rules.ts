// The names of the rules by which a change breaks clients, for the exceptions of upstreams.yaml.

/** What a schema may narrow or widen. */
const SUBJECTS = [
  'type',
  'values',
  'bound',
  'format',
  'pattern',
  'pattern-properties',
  'keyword',
  'schema',
  'alternatives',
];

export const BREAKING_RULES: readonly string[] = [
  ...['operation-removed', 'webhook-removed', 'webhook-payload-removed'],
  ...['security-added', 'security-scope-added', 'security-alternative-removed'],
  ...['request-parameter-removed', 'request-parameter-required', 'request-parameter-style-changed'],
  ...['request-body-removed', 'request-body-required', 'request-media-type-removed', 'response-media-type-removed'],
  ...[
    'response-success-status-removed',
    'response-status-removed',
    'response-header-removed',
    'response-header-optional',
  ],
  ...[
    'request-property-removed',
    'response-property-removed',
    'request-property-required',
    'response-property-optional',
  ],
  ...['request-value-removed', 'response-value-added', 'request-alternative-removed', 'response-alternative-added'],
  ...['request-additional-properties-closed', 'request-default-changed'],
  ...SUBJECTS.flatMap((subject) => [
    `request-${subject}-narrowed`,
    `response-${subject}-widened`,
    `request-${subject}-changed`,
    `response-${subject}-changed`,
  ]),
];
