// The command `gateway certificates list`: lists the certificates for clients, from files and from `tls.acme`.

import { openAcmeStore } from '../../wiring/acme.ts';
import type { CertificateStatus } from '../../wiring/certificate-status.ts';
import type { CommandContext } from '../context.ts';
import { bodyAt, orInForce } from '../or-in-force.ts';
import { printJson, printLine, printTable, shortTime } from '../print.ts';
import { certificateStatusIn, certificatesInFiles, WRITE_IT_THERE } from './store.ts';

export async function listCertificates(context: CommandContext, asJson: boolean): Promise<void> {
  const { hasTls, all } = await orInForce(
    context,
    () => certificatesOfFiles(context),
    async (client) => {
      const { certificates = [] } = (await bodyAt(context, client, '/status')) as {
        certificates?: CertificateStatus[];
      };
      return { hasTls: certificates.length > 0, all: certificates };
    },
  );
  if (asJson) return printJson(context, { certificates: all });
  if (!hasTls) return printLine(context, 'None: gateway.yaml has no tls, so clients connect by plain HTTP.');
  printTable(
    context,
    ['names', 'from', 'state', 'expires', 'renews', 'last failure'],
    all.map(({ names, file, acme, state, expires_at, days_left, renews_at, last_failure }) => [
      names.join(', '),
      file ?? acme ?? '',
      state,
      `${timeIn(expires_at)}${(days_left ?? -1) < 0 ? '' : ` (${days_left} d)`}`,
      timeIn(renews_at ?? null),
      last_failure === null
        ? ''
        : `${last_failure.reason} Next attempt: ${timeIn(last_failure.next_attempt_at ?? null)}`,
    ]),
  );
  for (const { names, file, state } of all)
    if (file !== undefined && state !== 'valid')
      printLine(context, `${names.join(', ')}: ${state}. The file is ${file}: ${WRITE_IT_THERE}`);
}

async function certificatesOfFiles(context: CommandContext) {
  const configuration = await context.configuration();
  const { tls } = configuration.config.gateway;
  const ordered = tls?.acme === undefined ? [] : await orderedOnes(context, tls.acme);
  return { hasTls: tls !== undefined, all: [...certificatesInFiles(context, configuration), ...ordered] };
}

async function orderedOnes(
  context: CommandContext,
  acme: Parameters<typeof certificateStatusIn>[0]['acme'],
): Promise<CertificateStatus[]> {
  const store = await openAcmeStore(context.settings(), context.now);
  try {
    return certificateStatusIn({ acme }, await store.read(), context.now());
  } finally {
    store.close();
  }
}

const timeIn = (time: string | null) => (time === null ? '' : shortTime(Date.parse(time)));
