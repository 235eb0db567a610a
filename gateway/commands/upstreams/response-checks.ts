// Checks the times, headers and connections of all answers.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import { clientAnswerHeaders } from '../../upstream/headers/answer-headers.ts';
import { authorityIn } from '../../upstream/headers/references.ts';
import { withheldRemedy } from '../../upstream/headers/withheld.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import type { Backend, BackendAnswer } from './backend.ts';

/** Headers that frameworks add by themselves, and the gateway drops. */
const NEEDLESS_HEADERS = ['server', 'x-powered-by'] as const;
const INTERNAL_HEADER = /^(x-gateway-|x-organization-id$|x-api-key-id$|x-internal-)/;

export function checkTimes(answers: readonly BackendAnswer[], { timeoutMs }: UpstreamEntry): Finding {
  const times = answers.map(({ ms }) => ms).sort((one, other) => one - other);
  const at = (share: number) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0);
  const [p50, p99] = [at(0.5), at(0.99)];
  const says = `p50 ${p50} ms, p99 ${p99} ms of the ${timeoutMs} ms that timeoutMs allows.`;
  // There is one millisecond of tolerance, because timers count whole milliseconds.
  const late = answers.filter(({ ms, problem }) => problem !== undefined && ms + 1 >= timeoutMs).length;
  if (late > 0)
    return fail('times', `${late} requests were not answered in time; ${says}`, 'Be quicker, or raise timeoutMs.');
  return p99 * 2 <= timeoutMs ? ok('times', says) : warn('times', says, 'Be quicker, or raise timeoutMs.');
}

/** Checks headers of answers. @param addresses addresses of the service. References to them cross */
export function checkHeaders(
  answers: readonly BackendAnswer[],
  proofs: readonly string[],
  addresses: readonly string[],
): Finding[] {
  const findings: Finding[] = [];
  if (answers.some(({ headers, body }) => echoes(headers, body, proofs))) {
    const says = 'It echoes the assertion or the credential of the gateway.';
    findings.push(fail('headers', says, 'Leave it out of answers: its reader can impersonate the gateway.'));
  }
  const names = new Set(answers.flatMap(({ headers }) => Object.keys(headers)));
  const inside = [...names].filter((name) => INTERNAL_HEADER.test(name));
  if (inside.length > 0) {
    const says = `It answers with internal headers: ${inside.join(', ')}.`;
    findings.push(fail('headers', says, 'Leave them out; the gateway drops them.'));
  }
  const dropped = NEEDLESS_HEADERS.filter((name) => names.has(name));
  if (dropped.length > 0)
    findings.push(ok('headers', `It answers with ${dropped.join(', ')}, which the gateway drops.`));
  for (const field of withheldIn(answers, addresses))
    findings.push(warn('headers', `Clients do not get ${field}.`, withheldRemedy(field)));
  return findings.length > 0 ? findings : [ok('headers', 'No header reveals internals.')];
}

/** Returns the names of the fields that the gateway withholds. Internal headers are separate findings. */
function withheldIn(answers: readonly BackendAnswer[], addresses: readonly string[]): string[] {
  const authorities = new Set(addresses.flatMap((address) => authorityIn(address) ?? []));
  const fields = new Set<string>();
  const notes = { withhold: (field: string) => void fields.add(field) };
  for (const { asked, status, headers } of answers) {
    if (status === 0 || status >= 400) continue;
    const { operation } = asked.entry;
    clientAnswerHeaders(headers, { operation, headers: asked.headers, scheme: 'https' }, authorities, notes);
  }
  return [...fields].filter((field) => !INTERNAL_HEADER.test(field)).sort();
}

function echoes(headers: BackendAnswer['headers'], body: Buffer, proofs: readonly string[]): boolean {
  const all = Object.values(headers).flat().join('\n');
  return proofs.some((proof) => all.includes(proof) || body.includes(proof));
}

export function checkConnections(answers: readonly BackendAnswer[], backend: Pick<Backend, 'connections'>): Finding[] {
  const whole = answers.filter(({ problem }) => problem === undefined);
  const broken = answers.filter(({ problem, status }) => problem !== undefined && status === 0);
  const opened = backend.connections();
  const chunked = whole.filter(({ headers }) => headers['transfer-encoding'] !== undefined).length;
  const says = `${opened} ${opened === 1 ? 'connection' : 'connections'} for ${answers.length} requests; ${chunked} answers in chunks.`;
  const [first] = broken;
  const faults =
    first === undefined
      ? []
      : [
          fail(
            'connections',
            `${broken.length} of ${answers.length} exchanges broke, the first with ${first.problem}.`,
            'Answer every request, and frame answers as RFC 9112 says.',
          ),
        ];
  // A lost connection is opened again; it is reported above.
  if (opened - broken.length <= Math.max(1, answers.length / 4)) return [...faults, ok('connections', says)];
  return [...faults, warn('connections', says, 'Keep connections open: each new one costs every request its time.')];
}
