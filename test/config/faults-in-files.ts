// Faults of the three files of a configuration, by name, each with its message to the operator.

import { type Fault, sound, spoiled } from './faults.ts';

const upstreams = 'config/upstreams.yaml';
const limits = 'config/limits.yaml';
const gateway = 'config/gateway.yaml';

export const faultsInFiles: Readonly<Record<string, Fault>> = {
  'sessions-with-mistakes-of-form': {
    files: {
      [gateway]: [
        'sessions:',
        '  origins: ["http://app.example.com", "https://app.example.com/x"]',
        '  idleSeconds: 7200',
        '  absoluteSeconds: 3600',
        '  afterLogin: //evil.example',
        '  providers:',
        '    staff:',
        '      issuer: http://login.example.com',
        '      clientId: gateway',
        '      authentication: { method: none, secret: x }',
        '      parameters: { state: fixed }',
        '      grants: [{ value: admin, scopes: ["items:read"] }]',
        '',
      ].join('\n'),
    },
    says: [
      'config/gateway.yaml:8:15: sessions.providers.staff.issuer: "http://login.example.com" is not possible here. It must be an https:// address (http:// only on this machine).',
      'config/gateway.yaml:10:33: sessions.providers.staff.authentication.method: {"method":"none","secret":"x"} is not possible here. It must name a method: private_key_jwt, client_secret_basic or client_secret_post.',
      'config/gateway.yaml:12:25: sessions.providers.staff.grants.0.value: "admin" is not possible here. It must have a claim beside it.',
      'config/gateway.yaml:11:7: sessions.providers.staff.parameters: {"state":"fixed"} is not possible here. It must be none of the parameters that the gateway sets itself.',
      'config/gateway.yaml:2:13: sessions.origins.0: "http://app.example.com" is not possible here. It must be an origin such as https://app.example.com (http:// only on this machine).',
      'config/gateway.yaml:2:39: sessions.origins.1: "https://app.example.com/x" is not possible here. It must be an origin such as https://app.example.com (http:// only on this machine). Did you mean "https://app.example.com"?',
      'config/gateway.yaml:5:15: sessions.afterLogin: "//evil.example" is not possible here. It must be a path of the same origin, such as / or /app.',
    ],
  },
  'sessions-that-do-not-fit': {
    files: {
      [gateway]: [
        'publicUrl: https://api.example.com',
        'hosts: { api: api.example.com }',
        'issuers: { staff: { issuer: "https://other.example", jwksUrl: "https://other.example/keys", audience: x } }',
        'sessions:',
        '  origins: ["https://app.example.com"]',
        '  providers:',
        '    staff: &staff',
        '      issuer: https://login.example.com',
        '      clientId: gateway',
        '      authentication: { method: client_secret_basic, secret: session_client }',
        '      grants: [{ scopes: ["item:read", "items:read"] }]',
        '    again: *staff',
        '',
      ].join('\n'),
    },
    says: [
      "config/gateway.yaml:4:1: sessions: no entry of upstreams.yaml serves the operations that people sign in with. Add an entry with contracts: [session/*.yaml] and live: 'session:'.",
      'config/gateway.yaml:5:13: sessions.origins.0: requests for "app.example.com" get 421, because hosts names others. Did you mean "api.example.com"?',
      'config/gateway.yaml:7:5: sessions.providers.staff: "staff" is the name of another issuer under issuers, so that people and subjects of its tokens would count as one. Give one of the two another name.',
      'config/gateway.yaml:12:5: sessions.providers.again.issuer: "https://login.example.com" is the issuer of "staff" already. Keep one of the two providers.',
      'config/gateway.yaml:11:27: sessions.providers.staff.grants.0.scopes.0: the scope "item:read" is unknown. Did you mean "items:read"?',
      'config/gateway.yaml:12:5: sessions.providers.again.grants.0.scopes.0: the scope "item:read" is unknown. Did you mean "items:read"?',
    ],
  },
  'sessions-without-sessions': {
    files: spoiled(
      upstreams,
      'live: http://items:3000',
      'live: "session:"\n    security: { sessions: true }\n    test: "session:"',
    ),
    says: [
      'config/upstreams.yaml:6:5: upstreams.items.test: "test" has no meaning with live: session:, which stands for no service. Remove test.',
      'config/upstreams.yaml:5:5: upstreams.items.security: "security" has no meaning with live: session:, which stands for no service. Remove security.',
      'config/upstreams.yaml:4:11: upstreams.items.live: session: stands for what people sign in with, and gateway.yaml has no sessions. Add sessions to gateway.yaml, or remove the entry.',
      'config/upstreams.yaml:2:3: upstreams.items: operations of this entry take sessions, and gateway.yaml has no sessions. Add sessions to gateway.yaml, or let the operations take keys only.',
    ],
  },
  'entry-that-takes-sessions-of-nobody': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'timeoutMs: 1000\n    security: { sessions: true }\n    cookies: [gateway-session]',
    ),
    says: [
      'config/upstreams.yaml:7:15: upstreams.items.cookies.0: "gateway-session" is not possible here. It must be a cookie of the service: those of sessions never cross.',
      'config/upstreams.yaml:2:3: upstreams.items: operations of this entry take sessions, and gateway.yaml has no sessions. Add sessions to gateway.yaml, or let the operations take keys only.',
    ],
  },
  'guide-that-no-header-can-carry': {
    files: {
      [gateway]:
        'versions: { v1: { released: 2025-01-01, deprecated: 2026-01-01, guide: "https://docs.example.com/移行" } }\noperations: { listItems: { deprecated: 2026-01-01, guide: "https://docs.example.com/\u00e9" } }\n',
    },
    says: [
      'config/gateway.yaml:1:72: versions.v1.guide: "https://docs.example.com/移行" is not possible here. It must be of visible ASCII characters, since it goes into a header: write others of an address as %C3%A9, those of a host name as xn--….',
      'config/gateway.yaml:2:59: operations.listItems.guide: "https://docs.example.com/é" is not possible here. It must be of visible ASCII characters, since it goes into a header: write others of an address as %C3%A9, those of a host name as xn--….',
    ],
  },
  'public-address-that-no-header-can-carry': {
    files: { [gateway]: 'publicUrl: https://münchen.example\n' },
    says: [
      'config/gateway.yaml:1:12: publicUrl: "https://münchen.example" is not possible here. It must be of visible ASCII characters, since it goes into a header: write others of an address as %C3%A9, those of a host name as xn--….',
    ],
  },
  'public-address-with-a-quote': {
    files: { [gateway]: `publicUrl: 'https://a"b.example'\n` },
    says: [
      'config/gateway.yaml:1:12: publicUrl: "https://a\\"b.example" is not possible here. It must be an http:// or https:// address without a path, such as https://api.example.com.',
    ],
  },
  'public-address-with-a-path': {
    files: { [gateway]: 'publicUrl: https://api.example.com/v1\n' },
    says: [
      'config/gateway.yaml:1:12: publicUrl: "https://api.example.com/v1" is not possible here. It must be an http:// or https:// address without a path, such as https://api.example.com.',
    ],
  },
  'keys-of-other-gateways': {
    files: spoiled(
      upstreams,
      '    timeoutMs',
      '    url: http://items:3000\n    retries: 2\n    strip_path: true\n    timeoutMs',
    ),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.url: the key "url" is not known here. Did you mean "live"?',
      'config/upstreams.yaml:6:5: upstreams.items.retries: the key "retries" is not known here. Did you mean "retry"?',
      'config/upstreams.yaml:7:5: upstreams.items.strip_path: the key "strip_path" is not known here. Did you mean "basePath"?',
    ],
  },
  'portal-with-mistakes': {
    files: {
      [gateway]:
        'portal:\n  logo: logo.svg\n  colours: { light: "#8ab4ff" }\n  guides: guides\n  builtInGuides: [errors, pagnation]\n  sampleOperation: listItem\n  contact: javascript:alert(1)\n  status: "https://a\\"b"\n',
    },
    says: [
      'config/gateway.yaml:3:21: portal.colours.light: "#8ab4ff" is not possible here. It must have a contrast of 4.5 to 1 to the light page (#ffffff): links are written in it.',
      'config/gateway.yaml:7:12: portal.contact: "javascript:alert(1)" is not possible here. It must be a mail address such as api@example.com, or an https:// address.',
      'config/gateway.yaml:8:11: portal.status: "https://a\\"b" is not possible here. It must be an https:// or http:// address.',
    ],
  },
  'guides-with-mistakes': {
    files: {
      [gateway]:
        'portal:\n  logo: logo.svg\n  guides: guides\n  builtInGuides: [errors, pagnation]\n  sampleOperation: listItem\n  tiers: [standrad]\n',
      'config/guides/Start.md': '# Start\n',
      'config/guides/welcome.md':
        '---\nsumary: Hello.\n---\n\nSee [errors](errors.md) and\n[limits](/docs/guides/limits).\n',
    },
    says: [
      'config/gateway.yaml:2:9: portal.logo: the file cannot be read (ENOENT). Create it, or correct the path.',
      'config/guides/Start.md: the name of the file becomes an address. Use lower-case letters, digits and hyphens.',
      'config/guides/welcome.md:2: a guide has no "sumary". Did you mean "summary"?',
      'config/guides/welcome.md:5: the guide has no title. Begin it with a line such as "# Getting started".',
      'config/guides/welcome.md:6: there is no guide "limits". Did you mean "rate-limits"?',
      'config/gateway.yaml:4:27: portal.builtInGuides.1: the gateway brings no guide "pagnation". Did you mean "pagination"?',
      'config/gateway.yaml:6:11: portal.tiers.0: limits.yaml has no tier "standrad". Did you mean "standard"?',
    ],
  },
  'gateway-itself-with-settings-of-services': {
    files: {
      [upstreams]: sound[upstreams].replace(
        'live: http://items:3000',
        'live: "gateway:"\n    test: "gateway:"\n    credential: { basic: { user: a, secret: b } }\n    security: { apiKey: ["items:read"] }\n    tunnels: [{ paths: [/a] }]',
      ),
    },
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.test: "test" has no meaning with live: gateway:, which stands for no service. Remove test.',
      'config/upstreams.yaml:6:5: upstreams.items.credential: "credential" has no meaning with live: gateway:, which stands for no service. Remove credential.',
      'config/upstreams.yaml:8:5: upstreams.items.tunnels: "tunnels" has no meaning with live: gateway:, which stands for no service. Remove tunnels.',
      'config/upstreams.yaml:7:5: upstreams.items.security: "security" has no meaning with live: gateway:, which stands for no service. Remove security.',
    ],
  },
  'gateway-itself-for-test-keys': {
    files: {
      [upstreams]: sound[upstreams].replace('live: http://items:3000', 'live: http://items:3000\n    test: "gateway:"'),
    },
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.test: test keys cannot administer the gateway. Write gateway: as live, without test.',
    ],
  },
  'gateway-itself-beside-a-service': {
    files: { [upstreams]: sound[upstreams].replace('http://items:3000', '["gateway:", "http://items:3000"]') },
    says: [
      'config/upstreams.yaml:4:5: upstreams.items.live: ["gateway:","http://items:3000"] is not possible here. It must not name a service beside gateway: and session:, which stand for the gateway itself.',
    ],
  },
  'yaml-syntax': {
    files: spoiled(upstreams, '[items.yaml]', '[items.yaml'),
    says: ['config/upstreams.yaml:3:16: the bracket [ is not closed. Close it where its content ends.'],
  },
  'tab-indentation': {
    files: spoiled(upstreams, '    live:', '\tlive:'),
    says: ['config/upstreams.yaml:4:1: the line is indented by a tab. Indent it with spaces.'],
  },
  'duplicate-key': {
    files: spoiled(upstreams, '    timeoutMs', '    live: http://b:1\n    timeoutMs'),
    says: ['config/upstreams.yaml:5:5: the key "live" is there twice, first on line 4. Remove one of the two.'],
  },
  'two-documents': {
    files: { [gateway]: 'publicUrl: http://a\n---\npublicUrl: http://b\n' },
    says: [
      'config/gateway.yaml:2:1: the file holds several YAML documents. Remove the line --- and what does not belong.',
    ],
  },
  'unknown-alias': {
    files: spoiled(gateway, '[]', '*proxies'),
    says: [
      'config/gateway.yaml:2:17: *proxies is an alias, and no anchor &proxies is before it. For a text, write it in quotes: "*proxies".',
    ],
  },
  'server-that-no-operation-has': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'servers: { https://uploads.example.com: http://uploads:8080 }'),
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.servers.https://uploads.example.com: no operation of these contracts has the server https://uploads.example.com. Write it as the documents have it under servers, or remove it.',
    ],
  },
  'servers-in-other-words': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'servers: { sandbox:mail: http://a, https://b.test: "http://a?b", https://c.test: { test: http://a } }',
    ),
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.servers.sandbox:mail: "sandbox:mail" cannot be a name here. It must be the address of a server as the document has it: https://host with or without a path.',
      'config/upstreams.yaml:5:56: upstreams.items.servers.https://b.test: "http://a?b" is not possible here. It must be http://host:port, a list of these, or { live, test }. Did you mean "http://a"?',
      'config/upstreams.yaml:5:70: upstreams.items.servers.https://c.test: {"test":"http://a"} is not possible here. It must be http://host:port, a list of these, or { live, test }.',
    ],
  },
  'a-server-with-two-paths': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'servers: { https://a.test/v1/: [http://a/x, http://b/y], http://A.test/v1: http://a }',
    ),
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.servers.https://a.test/v1/: its addresses have different paths (/x, /y). Write the same path behind each address.',
      'config/upstreams.yaml:5:62: upstreams.items.servers.http://A.test/v1: the same server stands there twice: http or https makes no difference. Keep one of them.',
      'config/upstreams.yaml:5:16: upstreams.items.servers.https://a.test/v1/: no operation of these contracts has the server https://a.test/v1/. Write it as the documents have it under servers, or remove it.',
      'config/upstreams.yaml:5:62: upstreams.items.servers.http://A.test/v1: no operation of these contracts has the server http://A.test/v1. Write it as the documents have it under servers, or remove it.',
    ],
  },
  'a-secret-in-the-place-of-its-name': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { basic: { user: a, secret: "Pass Word" } }'),
    says: [
      'config/upstreams.yaml:5:45: upstreams.items.credential.basic.secret: this is no name of a secrets entry. Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL, for example, and items_credential here. A name has lower-case letters, digits and underscores.',
    ],
  },
  'basic-for-clients-without-a-credential': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'basicForClients: true'),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.basicForClients: the upstream has no user name and password that clients could present. Add credential: { basic: { user, secret } }, or remove basicForClients.',
    ],
  },
  'tokens-forwarded-beside-other-credentials': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'authorization: forward\n    credential: { basic: { user: gateway, secret: items_login } }\n    tunnels: [{ paths: [/a] }]',
    ),
    says: [
      'config/upstreams.yaml:5:20: upstreams.items.authorization: the entry has a credential, which the service gets in its place. Remove authorization or credential.',
      'config/upstreams.yaml:5:20: upstreams.items.authorization: tunnels pass every credential of a client, API keys too. Put the tunnels into an entry of their own.',
    ],
  },
  'compression-in-no-coding-of-the-gateway': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'compression: { codings: [gzip, deflate] }'),
    says: [
      'config/upstreams.yaml:5:36: upstreams.items.compression.codings.1: "deflate" is not possible here. It must be zstd, br or gzip.',
    ],
  },
  'compression-that-is-neither-on-nor-off': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'compression: best'),
    says: [
      'config/upstreams.yaml:5:18: upstreams.items.compression: "best" is not possible here. It must be off, on, or a block of keys and values.',
    ],
  },
  'basic-for-clients-that-no-upstream-asks-for': {
    files: {
      ...spoiled(
        upstreams,
        'timeoutMs: 1000',
        'credential: { basic: { user: gateway, secret: items_login } }\n    basicForClients: false',
      ),
      'openapi/items.yaml': sound['openapi/items.yaml']
        .replace('[{ apiKey: ["items:write"] }]', '[{ login: [] }]')
        .replace('  securitySchemes:\n', '  securitySchemes:\n    login: { type: http, scheme: basic }\n'),
    },
    says: [
      'openapi/items.yaml:19:5: components.securitySchemes.login: the gateway does not check credentials of the security scheme "login". Add basicForClients: true and a basic credential to its entry of upstreams.yaml, or use a scheme of type http with scheme bearer, or override it by security in its entry of upstreams.yaml.',
    ],
  },
  'a-secret-in-the-place-of-a-credential': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: s3cret'),
    says: [
      'config/upstreams.yaml:5:17: upstreams.items.credential: a text is not possible here. It must be a block with apiKey, basic, bearer, headers. Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL, for example, and items_credential here.',
    ],
  },
  'a-secret-in-the-place-of-its-block': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { bearer: s3cret }'),
    says: [
      'config/upstreams.yaml:5:27: upstreams.items.credential.bearer: a text is not possible here. It must be a block with secret. Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL, for example, and items_credential here.',
    ],
  },
  'a-credential-in-the-words-of-others': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { api_key: {} }\n    auth: {}'),
    says: [
      'config/upstreams.yaml:5:19: upstreams.items.credential.api_key: the key "api_key" is not known here. Did you mean "apiKey"?',
      'config/upstreams.yaml:6:5: upstreams.items.auth: the key "auth" is not known here. Did you mean "credential"?',
    ],
  },
  'a-key-by-name-and-value': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { apiKey: { name: X-API-Key, value: s3cret } }'),
    says: [
      'config/upstreams.yaml:5:29: upstreams.items.credential.apiKey.name: the key "name" is not known here. Did you mean "header"?',
      'config/upstreams.yaml:5:46: upstreams.items.credential.apiKey.value: the key "value" is not known here. Did you mean "secret"? Put the secret itself into the file SECRETS_DIR/items_credential or the variable ITEMS_CREDENTIAL, for example, and items_credential here.',
    ],
  },
  'a-key-in-a-header-of-the-gateway': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { apiKey: { header: Content-Type, secret: items_key } }'),
    says: [
      'config/upstreams.yaml:5:37: upstreams.items.credential.apiKey.header: "content-type" is not possible here. It must be a header that the gateway does not need for something else, such as X-API-Key.',
    ],
  },
  'a-key-in-a-header-of-clients': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'credential: { apiKey: { header: X-Api-Key, secret: items_key } }\n    requestHeaders: [x_api_key]',
    ),
    says: [
      'config/upstreams.yaml:6:22: upstreams.items.requestHeaders.0: the gateway sends its credential in this header, and no value of a client. Remove it here, or choose another header for the credential.',
    ],
  },
  'two-kinds-of-credential': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'credential: { bearer: { secret: a }, apiKey: { header: X-Key, secret: b } }',
    ),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.credential: an entry has one credential. To send both at once, write credential: { headers: { names: [Authorization, X-Key], secret: … } }, with a secret of the lines "Authorization: Bearer …" and "X-Key: …".',
    ],
  },
  'a-list-of-credentials': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'credential: [{ bearer: { secret: a } }, { apiKey: { header: X-Key, secret: b } }]',
    ),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.credential: an entry has one credential. To send both at once, write credential: { headers: { names: [Authorization, X-Key], secret: … } }, with a secret of the lines "Authorization: Bearer …" and "X-Key: …".',
    ],
  },
  'two-credentials-in-one-header': {
    files: spoiled(
      upstreams,
      'timeoutMs: 1000',
      'credential: { bearer: { secret: a }, basic: { user: a, secret: b } }',
    ),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.credential: an entry has one credential. Two of these are sent in the same header: remove one of them.',
    ],
  },
  'a-credential-without-its-kind': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { header: X-Key, secret: a }'),
    says: [
      'config/upstreams.yaml:5:19: upstreams.items.credential.header: the kind of the credential is missing. Write apiKey: { header: X-Key, secret: … }.',
    ],
  },
  'a-credential-with-a-type': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { type: bearer, secret: a }'),
    says: [
      'config/upstreams.yaml:5:19: upstreams.items.credential.type: the kind of a credential is a key of its own. Write bearer: { secret: … }.',
    ],
  },
  'a-key-in-the-query': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: { apiKey: { query: key, secret: a } }'),
    says: [
      'config/upstreams.yaml:5:29: upstreams.items.credential.apiKey.query: the gateway sends no keys in the query, because logs and proxies record it. Write apiKey: { header: …, secret: … } with a header that the service accepts.',
    ],
  },
  'a-merge-conflict': {
    files: spoiled(
      upstreams,
      '    timeoutMs: 1000',
      '<<<<<<< HEAD\n    timeoutMs: 1000\n=======\n    timeoutMs: 2000\n>>>>>>> other',
    ),
    says: [
      'config/upstreams.yaml:5:1: a merge conflict is not resolved. Keep one of the two forms, and remove the lines of <<<<<<<, ======= and >>>>>>>.',
    ],
  },
  'credential-of-no-kind': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'credential: {}'),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.credential: {} is not possible here. It must name one kind: apiKey: { header, secret }, basic: { user, secret }, bearer: { secret } or headers: { names, secret }.',
    ],
  },
  'service-that-the-sandbox-has-not': {
    files: spoiled(upstreams, 'http://items:3000', 'sandbox:platfrom'),
    says: [
      'config/upstreams.yaml:4:11: upstreams.items.live: "sandbox:platfrom" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Did you mean "sandbox:platform"?',
    ],
  },
  'no-address-at-all': {
    files: spoiled(upstreams, 'http://items:3000', '[]'),
    says: [
      'config/upstreams.yaml:4:5: upstreams.items.live: [] is not possible here. It must name at least one address.',
    ],
  },
  'names-in-a-file-that-has-other-mistakes': {
    files: {
      [limits]:
        'tiers: { standard: { requests: 0 } }\noperations: { listItems: { extra: slow }, listItem: { cost: 2 } }\n',
    },
    says: [
      'config/limits.yaml:1:32: tiers.standard.requests: 0 is not possible here. It must be a whole number of requests from 1 to 1000000000.',
      'config/limits.yaml:2:35: operations.listItems.extra: there is no limit "slow" under extra in limits.yaml. None is defined.',
      'config/limits.yaml:2:43: operations.listItem: no contract has an operation "listItem". Did you mean "listItems"?',
    ],
  },
  'tag-for-what-json-has-not': {
    files: { [gateway]: 'trustedProxies: !!binary aGVsbG8=\n' },
    says: [
      'config/gateway.yaml:1:17: the tag !!binary means nothing here. Remove it, and write a plain value.',
      'config/gateway.yaml:1:26: trustedProxies: "aGVsbG8=" is not possible here. It must be a list, such as [a, b].',
    ],
  },
  'key-that-is-a-list': {
    files: { [gateway]: '? [publicUrl]\n: http://a\n' },
    says: ['config/gateway.yaml:1:3: a key is no plain text. Write it in quotes.'],
  },
  'no-number': {
    files: spoiled(limits, '100', '.inf'),
    says: [
      'config/limits.yaml:2:25: tiers.standard.requests: Infinity is not possible here. It must be a whole number of requests from 1 to 1000000000.',
    ],
  },
  'unknown-key': {
    files: spoiled(upstreams, 'timeoutMs', 'timeoutMS'),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.timeoutMS: the key "timeoutMS" is not known here. Did you mean "timeoutMs"?',
    ],
  },
  'unknown-key-that-stands-for-a-missing-one': {
    files: spoiled(upstreams, 'live:', 'livee:'),
    says: ['config/upstreams.yaml:4:5: upstreams.items.livee: the key "livee" is not known here. Did you mean "live"?'],
  },
  'unknown-key-beside-others-that-need-it': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'security: { reed: [items:read], write: [items:write] }'),
    says: [
      'config/upstreams.yaml:5:17: upstreams.items.security.reed: the key "reed" is not known here. Did you mean "read"?',
    ],
  },
  'target-without-its-colon': {
    files: spoiled(upstreams, 'timeoutMs: 1000', 'test: examples'),
    says: [
      'config/upstreams.yaml:5:11: upstreams.items.test: "examples" is not possible here. It must be "examples:", with a colon at its end.',
    ],
  },
  'unknown-key-without-likeness': {
    files: { [gateway]: 'banner: hello\n' },
    says: [
      'config/gateway.yaml:1:1: banner: the key "banner" is not known here. Use one of: alerts, connections, cors, hosts, http, idempotency, issuers, keys, limits, logLevel, mcp, metrics, ….',
    ],
  },
  'unknown-key-deep': {
    files: { [gateway]: 'limits: { bodyBytesMax: 5, headerBytes: 5 }\n' },
    says: [
      'config/gateway.yaml:1:28: limits.headerBytes: the key "headerBytes" is not known here. Did you mean "headerBytesMax"?',
    ],
  },
  'body-longer-than-all-bodies': {
    files: { [gateway]: 'limits: { bodyBytesMax: 200000000 }\n' },
    says: [
      'config/gateway.yaml:1:1: overload.bufferedBytesMax: one body may have 200000000 bytes (limits.bodyBytesMax), but all buffered bodies together fewer. Set overload.bufferedBytesMax to 200000000 at least; several times as much is better.',
    ],
  },
  'share-above-one': {
    files: { [gateway]: 'overload: { organizationShare: 50 }\n' },
    says: [
      'config/gateway.yaml:1:32: overload.organizationShare: 50 is not possible here. It must be a number from 0.01 to 1.',
    ],
  },
  'every-origin-with-credentials': {
    files: { [gateway]: "cors: { '*': { origins: ['*'], credentials: true } }\n" },
    says: [
      'config/gateway.yaml:1:45: cors.*.credentials: true is not possible here. It must be false where every origin is let in: list the origins instead of *.',
    ],
  },
  'origin-with-path': {
    files: { [gateway]: 'cors:\n  api.example.com:\n    origins: [https://app.example.com/]\n' },
    says: [
      'config/gateway.yaml:3:15: cors.api.example.com.origins.0: "https://app.example.com/" is not possible here. It must be an origin such as https://app.example.com, or \'*\'. Did you mean "https://app.example.com"?',
    ],
  },
  'two-entries-for-one-issuer': {
    files: {
      [gateway]: `issuers:
  web: { issuer: "https://id.example.com", jwksUrl: "https://id.example.com/keys", audience: api }
  desktop:
    issuer: https://id.example.com
    jwksUrl: https://id.example.com/desktop/keys
    audience: api
`,
    },
    says: [
      'config/gateway.yaml:4:13: issuers.desktop.issuer: "https://id.example.com" is the issuer of "web" already. Keep one of the two entries.',
    ],
  },
  'scope-of-an-issuer-that-no-contract-knows': {
    files: {
      [gateway]: 'issuers:\n  web: { issuer: a, jwksUrl: "https://b/", audience: c, scopesMax: [itms:read] }\n',
    },
    says: [
      'config/gateway.yaml:2:69: issuers.web.scopesMax.0: the scope "itms:read" is unknown. Did you mean "items:read"?',
    ],
  },
  'keys-of-an-issuer-over-http': {
    files: { [gateway]: 'issuers:\n  web: { issuer: a, jwksUrl: "http://id.example.com/keys", audience: api }\n' },
    says: [
      'config/gateway.yaml:2:30: issuers.web.jwksUrl: "http://id.example.com/keys" is not possible here. It must be an https:// address (http:// only on this machine).',
    ],
  },
  'symmetric-tokens': {
    files: {
      [gateway]: 'issuers:\n  web: { issuer: a, jwksUrl: "https://b/", audience: c, algorithms: [ES256, HS256] }\n',
    },
    says: [
      'config/gateway.yaml:2:77: issuers.web.algorithms.1: "HS256" is not a possible value. Did you mean "ES256"?',
    ],
  },
  'unknown-host': {
    files: { [gateway]: 'hosts: { maill: mail.example.com }\n' },
    says: ['config/gateway.yaml:1:10: hosts.maill: the key "maill" is not known here. Did you mean "mail"?'],
  },
  'wrong-type': {
    files: spoiled(upstreams, '1000', 'soon'),
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.timeoutMs: "soon" is not possible here. It must be a whole number of milliseconds from 1 to 3600000.',
    ],
  },
  'wrong-type-list': {
    files: spoiled(upstreams, '[items.yaml]', 'items.yaml'),
    says: [
      'config/upstreams.yaml:3:16: upstreams.items.contracts: "items.yaml" is not possible here. It must be a list, such as [a, b]. Did you mean [items.yaml]?',
    ],
  },
  'wrong-type-block': {
    files: { [limits]: 'tiers: 100\n' },
    says: ['config/limits.yaml:1:8: tiers: 100 is not possible here. It must be a block of keys and values.'],
  },
  'not-a-block': {
    files: { [gateway]: '- publicUrl: http://a\n' },
    says: [
      'config/gateway.yaml:1:1: [{"publicUrl":"http://a"}] is not possible here. It must be a block of keys and values.',
    ],
  },
  'out-of-range': {
    files: spoiled(upstreams, '1000', '0'),
    says: [
      'config/upstreams.yaml:5:16: upstreams.items.timeoutMs: 0 is not possible here. It must be a whole number of milliseconds from 1 to 3600000.',
    ],
  },
  'not-a-choice': {
    files: { [limits]: `countPer: organisation\n${sound[limits]}` },
    says: ['config/limits.yaml:1:11: countPer: "organisation" is not a possible value. Did you mean "organization"?'],
  },
  'missing-key': {
    files: spoiled(upstreams, '    live: http://items:3000\n', ''),
    says: ['config/upstreams.yaml:2:3: upstreams.items.live: the key "live" is missing. Add "live: …" here.'],
  },
  'missing-block': {
    files: { [limits]: 'countPer: key\n' },
    says: ['config/limits.yaml:1:1: tiers: the key "tiers" is missing. Add "tiers: …" here.'],
  },
  'empty-file': {
    files: { [limits]: '' },
    says: ['config/limits.yaml:1:1: tiers: the key "tiers" is missing. Add "tiers: …" here.'],
  },
  'missing-file': {
    files: { [limits]: undefined },
    says: ['config/limits.yaml: the file does not exist. Create it, or correct the path that names it.'],
  },
  'stray-file': {
    files: { 'config/limit.yaml': 'tiers: {}\n' },
    says: [
      'config/limit.yaml: no configuration file has this name, so it would not be read. Did you mean "limits.yaml"?',
    ],
  },
  'unset-variable': {
    files: spoiled(upstreams, 'http://items:3000', '\x24{ITEMS_URL}'),
    says: [
      'config/upstreams.yaml:4:11: the environment variable ITEMS_URL is not set. Set ITEMS_URL, or write the value here in place of \x24{ITEMS_URL}.',
    ],
  },
  'unquoted-variable': {
    files: { [upstreams]: 'upstreams:\n  items: { contracts: [items.yaml], live: \x24{ITEMS_URL} }\n' },
    says: ['config/upstreams.yaml:2:44: a variable inside { } is not quoted. Write it in quotes: "\x24{ITEMS_URL}".'],
  },
  'bad-target': {
    files: spoiled(upstreams, 'http://items:3000', 'items:3000'),
    says: [
      'config/upstreams.yaml:4:11: upstreams.items.live: "items:3000" is not possible here. It must begin with http:// or https://, such as http://items:3000.',
    ],
  },
  'target-with-path': {
    files: spoiled(upstreams, 'http://items:3000', 'http://items:3000/api?x=1'),
    says: [
      'config/upstreams.yaml:4:11: upstreams.items.live: "http://items:3000/api?x=1" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Did you mean "http://items:3000/api"?',
    ],
  },
  'bad-target-in-list': {
    files: spoiled(upstreams, 'http://items:3000', '["http://items:3000", "http://items:3000/api#x"]'),
    says: [
      'config/upstreams.yaml:4:33: upstreams.items.live.1: "http://items:3000/api#x" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files. Did you mean "http://items:3000/api"?',
    ],
  },
  'targets-with-different-paths': {
    files: spoiled(upstreams, 'http://items:3000', '["http://items:3000", "http://items:3000/api"]'),
    says: [
      'config/upstreams.yaml:4:5: upstreams.items.live: its addresses have different paths (/, /api). Write the same path behind each address under live and test, or one entry for each path.',
    ],
  },
  'target-with-dot-segments': {
    files: spoiled(upstreams, 'http://items:3000', 'http://items:3000/../api'),
    says: [
      'config/upstreams.yaml:4:11: upstreams.items.live: "http://items:3000/../api" is not possible here. It must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files.',
    ],
  },
  'bad-cidr': {
    files: spoiled(gateway, '[]', '[10.0.0.0/8, 10.0.0.0/33]'),
    says: [
      'config/gateway.yaml:2:30: trustedProxies.1: "10.0.0.0/33" is not possible here. It must be an address or a CIDR range such as 10.0.0.0/8; prefixes of IPv4 end at /32.',
    ],
  },
  'bad-scope': {
    files: spoiled(upstreams, '    timeoutMs', '    security: { apiKey: [items] }\n    timeoutMs'),
    says: [
      'config/upstreams.yaml:5:26: upstreams.items.security.apiKey.0: "items" is not possible here. It must be a scope of the form <resource>:read or <resource>:write.',
    ],
  },
  'bad-name': {
    files: spoiled(limits, 'standard', '1st'),
    says: [
      'config/limits.yaml:2:3: tiers.1st: "1st" cannot be a name here. It must be letters, digits, hyphens and underscores, beginning with a letter.',
    ],
  },
  'public-and-secured': {
    files: spoiled(
      upstreams,
      '    timeoutMs',
      '    public: true\n    security: { apiKey: ["items:read"] }\n    timeoutMs',
    ),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.public: an upstream is either public or secured. Remove public or security.',
    ],
  },
  'unknown-limit': {
    files: spoiled(limits, 'extra: slow', 'extra: slwo'),
    says: [
      'config/limits.yaml:6:23: operations.listItems.extra: there is no limit "slwo" under extra in limits.yaml. Did you mean "slow"?',
    ],
  },
  'unknown-limit-of-upstream': {
    files: spoiled(upstreams, '    timeoutMs', '    limit: fast\n    timeoutMs'),
    says: [
      'config/upstreams.yaml:5:12: upstreams.items.limit: there is no limit "fast" under extra in limits.yaml. Use one of: slow.',
    ],
  },
  'reserved-limit': {
    files: spoiled(limits, '  slow:', '  organization: { requests: 1 }\n  slow:'),
    says: [
      'config/limits.yaml:4:3: extra.organization: "organization" is reserved for the limit of the tier. Choose another name for this limit.',
    ],
  },
  'unknown-operation': {
    files: spoiled(limits, 'listItems', 'listItem'),
    says: [
      'config/limits.yaml:6:3: operations.listItem: no contract has an operation "listItem". Did you mean "listItems"?',
    ],
  },
  'security-by-half': {
    files: spoiled(upstreams, '    timeoutMs', '    security: { read: ["items:read"] }\n    timeoutMs'),
    says: [
      'config/upstreams.yaml:5:5: upstreams.items.security: {"read":["items:read"]} is not possible here. It must have read and write: read is for GET, HEAD, OPTIONS, TRACE and QUERY, write for every other method.',
    ],
  },
  'scope-without-counterpart': {
    files: spoiled(upstreams, '    timeoutMs', '    security: { scopes: { "items:read": "all:read" } }\n    timeoutMs'),
    says: [
      'openapi/items.yaml:11:18: paths./v1/items.post.security.0: the scope "items:write" of the document has no counterpart. Add it under security.scopes in its entry of upstreams.yaml. Use one of: items:read.',
    ],
  },
  'settings-of-no-operation': {
    files: spoiled(
      upstreams,
      '    timeoutMs',
      '    operations: { listItem: {}, createItem: { restOfPath: item } }\n    timeoutMs',
    ),
    says: [
      'config/upstreams.yaml:5:19: upstreams.items.operations.listItem: no contract of "items" has an operation "listItem". Did you mean "listItems"?',
      'config/upstreams.yaml:5:59: upstreams.items.operations.createItem.restOfPath: "item" is no path parameter of /v1/items that is a whole segment. None is defined.',
    ],
  },
  'unmatched-glob': {
    files: spoiled(upstreams, 'items.yaml', 'itmes.yaml'),
    says: [
      'config/upstreams.yaml:3:17: upstreams.items.contracts.0: no contract file matches itmes.yaml in openapi. Did you mean "items.yaml"?',
    ],
  },
  'contract-file-that-is-published-and-gone': {
    files: {
      ...spoiled('config/gateway.yaml', 'trustedProxies: []', 'trustedProxies: []\npublishedContracts: published'),
      'openapi/items.yaml': undefined,
      'openapi/published/items.yaml': sound['openapi/items.yaml'],
      'openapi/published/changes.jsonl': '',
    },
    says: [
      'config/upstreams.yaml:3:17: upstreams.items.contracts.0: no contract file matches items.yaml in openapi. Put the contract there.',
    ],
  },
  'listed-twice': {
    files: { [upstreams]: `${sound[upstreams]}  more:\n    contracts: ["*.yaml"]\n    live: http://more:1\n` },
    says: [
      'config/upstreams.yaml:7:17: upstreams.more.contracts.0: openapi/items.yaml is listed by the upstream "items" already. List it once. To split its operations between two entries, list a copy under another name here, and set serve: false in each entry for the operations of the other.',
    ],
  },
};
