// The part of a request's time that match and validate take with a contract of ten operations, and with one of over a thousand that has the
// same ten. No sockets: the two stages alone. Argument: the large document (.json or .json.gz); default: GitHub's, where it is at hand.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { loadContracts } from '../gateway/contract/load.ts';
import { createMatch } from '../gateway/contract/match.ts';
import { createDirectReader } from '../gateway/contract/reading/document.ts';
import { createValidate } from '../gateway/contract/validate.ts';
import type { Admitted, Counted } from '../gateway/exchange/exchange.ts';
import type { Mistake } from '../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../test/support/directory.ts';

const ROUNDS = 40;
const REQUESTS_PER_ROUND = 5000;

const file =
  process.argv[2] ?? fileURLToPath(new URL('../../shared/contracts/github-rest-api.json.gz', import.meta.url));

/** Ten requests to ten operations: method, path, query, body. */
const REQUESTS: readonly (readonly [string, string, string?, object?])[] = [
  ['GET', '/'],
  ['GET', '/user/repos', 'visibility=all&sort=pushed&per_page=50'],
  ['GET', '/repos/octocat/hello-world'],
  ['GET', '/repos/octocat/hello-world/issues', 'state=closed&per_page=5&labels=bug,ui&page=2'],
  ['POST', '/repos/octocat/hello-world/issues', '', { title: 'Found', body: 'It fails.', labels: ['bug'] }],
  ['PATCH', '/repos/octocat/hello-world/issues/17', '', { state: 'closed', assignees: ['octocat'] }],
  ['GET', '/repos/octocat/hello-world/compare/main...topic', 'page=1'],
  ['GET', '/orgs/github/members', 'role=admin&filter=all'],
  ['GET', '/gists/aa5a315d61ae9438b18d/comments', 'per_page=100'],
  ['PUT', '/repos/octocat/hello-world/issues/17/lock', '', { lock_reason: 'spam' }],
];
const TEMPLATES = new Set([
  ...['/', '/user/repos', '/repos/{owner}/{repo}', '/repos/{owner}/{repo}/issues', '/orgs/{org}/members'],
  ...['/repos/{owner}/{repo}/issues/{issue_number}', '/repos/{owner}/{repo}/compare/{basehead}'],
  ...['/gists/{gist_id}/comments', '/repos/{owner}/{repo}/issues/{issue_number}/lock'],
]);

type Document = { paths: Record<string, Record<string, unknown>> };

/** The same document with the ten operations alone. */
function reduced(document: Document): Document {
  const paths = Object.entries(document.paths).filter(([template]) => TEMPLATES.has(template));
  const wanted = (template: string, method: string) =>
    REQUESTS.some(([asked, path]) => asked.toLowerCase() === method && matches(template, path));
  return {
    ...document,
    paths: Object.fromEntries(
      paths.map(([template, item]) => [
        template,
        Object.fromEntries(Object.entries(item).filter(([method]) => wanted(template, method))),
      ]),
    ),
  };
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replace(/\{[^}]*\}/g, '[^/]+')}$`).test(path);
}

/** Both stages, one after the other, as the pipeline runs them. */
async function stagesFor(document: Document) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'it.json'), JSON.stringify(document));
  const mistakes: Mistake[] = [];
  const mistake = (reason: string, remedy: string) => ({ file: 'it', reason, remedy });
  const { operations, schemas } = await loadContracts(
    {
      directory,
      sources: [
        {
          ...{ contracts: ['it.json'], upstream: 'it', public: true },
          mistakeAtEntry: (reason: string, remedy: string) => ({ file: 'upstreams.yaml', reason, remedy }),
          mistakeAtGlob: (_, reason, remedy) => mistake(reason, remedy),
        },
      ],
      known: { upstreams: ['it'], limits: [] },
      namedOperations: [],
      mistakeAtOperation: (_, reason, remedy) => mistake(reason, remedy),
      reader: await createDirectReader(),
    },
    mistakes,
  );
  rmSync(directory, { recursive: true });
  if (mistakes.length > 0) throw new Error(JSON.stringify(mistakes[0]));
  const { match } = createMatch(operations.map(({ operation }) => operation));
  const validate = createValidate({
    operations,
    schemas,
    bodyBytesMax: 1_000_000,
    jsonDepthMax: 32,
    jsonMembersMax: 10_000,
    hold: () => undefined,
  });
  return {
    count: operations.length,
    run: (admitted: Admitted) => validate(match(admitted) as Counted),
  };
}

/** A request as the stage before has left it. */
function admitted([method, path, query = '', body]: (typeof REQUESTS)[number]): Admitted {
  const bytes = body && Buffer.from(JSON.stringify(body));
  const headers = new Map([['accept', 'application/json']]);
  if (bytes) headers.set('content-type', 'application/json').set('content-length', String(bytes.length));
  return {
    ...{ method, path, query, headers, segments: path.slice(1).split('/'), hasBody: bytes !== undefined, trail: {} },
    request: Readable.from(bytes ? [bytes] : []) as IncomingMessage,
  } as unknown as Admitted;
}

/** Nanoseconds per request. */
async function measure(run: (admitted: Admitted) => unknown): Promise<number> {
  const prepared = Array.from({ length: REQUESTS_PER_ROUND }, (_, index) =>
    admitted(REQUESTS[index % REQUESTS.length] as (typeof REQUESTS)[number]),
  );
  const startedAt = performance.now();
  for (const one of prepared) await run(one);
  return ((performance.now() - startedAt) * 1e6) / REQUESTS_PER_ROUND;
}

if (!existsSync(file)) {
  process.stderr.write(`contract-size: ${file} is not there; name a large OpenAPI document.\n`);
  process.exit(2);
}
const bytes = readFileSync(file);
const whole = JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')) as Document;
const few = await stagesFor(reduced(whole));
const many = await stagesFor(whole);
const [ofFew, ofMany]: [number[], number[]] = [[], []];
// In turns, so that other load of the machine affects both.
for (let round = 0; round < ROUNDS; round += 1) {
  ofFew.push(await measure(few.run));
  ofMany.push(await measure(many.run));
}
// The quickest round is the one that nothing else disturbed.
const [small, large] = [Math.min(...ofFew), Math.min(...ofMany)];
process.stdout.write(
  `${few.count} operations: ${small.toFixed(0)} ns per request\n` +
    `${many.count} operations: ${large.toFixed(0)} ns per request, ${((large / small - 1) * 100).toFixed(1)} % more\n`,
);
