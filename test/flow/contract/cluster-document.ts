// In the manner of Kubernetes' descriptions: OpenAPI 3.0, several hundred paths made by one pattern, patches in several media types,
// schemas that describe schemas.

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const GROUP = 'io.cluster.api';
const MEDIA_TYPES = ['application/json', 'application/yaml', 'application/vnd.cluster.protobuf'];
const KINDS = 60;

const text = (name: string, place: string, rest: object = {}) => ({
  name,
  in: place,
  description: `The ${name}.`,
  ...(place === 'path' ? { required: true } : {}),
  schema: { type: 'string', uniqueItems: true, ...rest },
});
const inAll = (types: readonly string[], schema: object) => Object.fromEntries(types.map((type) => [type, { schema }]));
const answer = (schema: object) => ({
  200: { description: 'OK', content: inAll([...MEDIA_TYPES, 'application/json;stream=watch'], schema) },
  401: { description: 'Unauthorized' },
});
const anyType = (schema: object) => ({ content: { '*/*': { schema } }, required: true });

function operation(action: string, kind: string, rest: object) {
  return {
    tags: ['apps_v1'],
    operationId: `${action}AppsV1Namespaced${kind}`,
    'x-cluster-action': action,
    'x-cluster-group-version-kind': { group: 'apps', version: 'v1', kind },
    ...rest,
  };
}

function pathsOf(kind: string): object {
  const plural = `${kind.toLowerCase()}s`;
  const schema = ref(`${GROUP}.apps.v1.${kind}`);
  const base = `/apis/apps/v1/namespaces/{namespace}/${plural}`;
  const common = [text('namespace', 'path'), text('pretty', 'query')];
  const one = [text('name', 'path', { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }), ...common];
  const status = operation('read', `${kind}Status`, { responses: answer(schema) });
  return {
    [base]: {
      parameters: common,
      get: operation('list', kind, {
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', uniqueItems: true } },
          { name: 'watch', in: 'query', schema: { type: 'boolean', uniqueItems: true } },
          text('labelSelector', 'query'),
        ],
        responses: answer({ type: 'object', properties: { items: { type: 'array', items: schema } } }),
      }),
      post: operation('create', kind, { requestBody: anyType(schema), responses: answer(schema) }),
    },
    [`${base}/{name}`]: {
      parameters: one,
      get: operation('read', kind, { responses: answer(schema) }),
      put: operation('replace', kind, { requestBody: anyType(schema), responses: answer(schema) }),
      delete: operation('delete', kind, {
        requestBody: { content: { '*/*': { schema: ref(`${GROUP}.meta.v1.DeleteOptions`) } } },
        responses: answer(ref(`${GROUP}.meta.v1.DeleteOptions`)),
      }),
      patch: operation('patch', kind, {
        parameters: [{ name: 'force', in: 'query', schema: { type: 'boolean', uniqueItems: true } }],
        requestBody: {
          content: inAll(
            [
              ...['application/json-patch+json', 'application/merge-patch+json'],
              ...['application/strategic-merge-patch+json', 'application/apply-patch+yaml'],
            ],
            ref(`${GROUP}.meta.v1.Patch`),
          ),
          required: true,
        },
        responses: answer(schema),
      }),
    },
    [`${base}/{name}/status`]: { parameters: one, get: status },
    [`${base}/{name}/log`]: {
      parameters: one,
      get: operation('connect', `${kind}Log`, {
        responses: { 200: { description: 'OK', content: { '*/*': { schema: { type: 'string' } } } } },
      }),
    },
    [`/apis/apps/v1/watch/${plural}`]: {
      get: operation('watch', `${kind}List`, { deprecated: true, responses: answer(schema) }),
    },
  };
}

const schemaOfKind = (kind: string) => ({
  type: 'object',
  description: `${kind} is a kind of thing.`,
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { allOf: [ref(`${GROUP}.meta.v1.ObjectMeta`)], default: {} },
    spec: { allOf: [ref(`${GROUP}.apps.v1.Spec`)], default: {} },
  },
  'x-cluster-group-version-kind': [{ group: 'apps', version: 'v1', kind }],
});

const PROPS = `${GROUP}.extensions.v1.JSONSchemaProps`;

/** A schema of schemas: it refers to itself in every way, and its members are called as keywords are. */
const jsonSchemaProps = {
  type: 'object',
  properties: {
    $ref: { type: 'string' },
    $schema: { type: 'string' },
    id: { type: 'string' },
    type: { type: 'string', default: '' },
    required: { type: 'array', items: { type: 'string' }, 'x-cluster-list-type': 'atomic' },
    nullable: { type: 'boolean' },
    readOnly: { type: 'boolean' },
    exclusiveMinimum: { type: 'boolean' },
    enum: { type: 'array', items: ref(`${GROUP}.extensions.v1.JSON`) },
    default: ref(`${GROUP}.extensions.v1.JSON`),
    items: { description: 'A schema or a list of them.', anyOf: [ref(PROPS), { type: 'array', items: ref(PROPS) }] },
    not: ref(PROPS),
    allOf: { type: 'array', items: { allOf: [ref(PROPS)], default: {} } },
    properties: { type: 'object', additionalProperties: { allOf: [ref(PROPS)], default: {} } },
    'x-cluster-preserve-unknown-fields': { type: 'boolean' },
  },
};

/** @param count five paths and a schema for each kind */
export function clusterDocumentOf(count: number) {
  const kinds = Array.from({ length: count }, (_, index) => `Kind${index}`);
  return {
    openapi: '3.0.0',
    info: { title: 'Cluster', version: 'v1.30.0' },
    paths: {
      '/apis/apps/': {
        get: {
          operationId: 'getAppsAPIGroup',
          responses: { 200: { description: 'OK', content: inAll(MEDIA_TYPES, { type: 'object' }) } },
        },
      },
      ...Object.assign({}, ...kinds.map(pathsOf)),
      '/apis/extensions/v1/definitions': {
        post: {
          operationId: 'createExtensionsV1Definition',
          requestBody: { content: inAll(['application/json', 'application/yaml'], ref(PROPS)), required: true },
          responses: answer(ref(PROPS)),
        },
      },
    },
    components: {
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          description: 'Bearer Token authentication',
          name: 'authorization',
          in: 'header',
        },
      },
      schemas: {
        ...Object.fromEntries(kinds.map((kind) => [`${GROUP}.apps.v1.${kind}`, schemaOfKind(kind)])),
        [`${GROUP}.apps.v1.Spec`]: {
          type: 'object',
          properties: {
            replicas: { type: 'integer', format: 'int32' },
            port: ref(`${GROUP}.util.IntOrString`),
            maxUnavailable: { type: 'string', format: 'int-or-string', 'x-cluster-int-or-string': true },
            memory: { description: 'A quantity.', oneOf: [{ type: 'string' }, { type: 'number' }] },
            data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
            tolerations: { type: 'array', items: { type: 'object' }, nullable: true },
          },
          'x-cluster-unions': [{ discriminator: 'type' }],
        },
        [`${GROUP}.util.IntOrString`]: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
        [`${GROUP}.meta.v1.ObjectMeta`]: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            creationTimestamp: { type: 'string', format: 'date-time', nullable: true },
            labels: { type: 'object', additionalProperties: { type: 'string', default: '' } },
          },
        },
        [`${GROUP}.meta.v1.DeleteOptions`]: {
          type: 'object',
          properties: { gracePeriodSeconds: { type: 'integer', format: 'int64' } },
        },
        [`${GROUP}.meta.v1.Patch`]: { type: 'object', description: 'A concrete thing that changes another one.' },
        [`${GROUP}.extensions.v1.JSON`]: {
          description: 'Any JSON value: bool, int64, float64, string, [], {} or null.',
        },
        [PROPS]: jsonSchemaProps,
      },
    },
  };
}

export const clusterDocument = clusterDocumentOf(KINDS);
