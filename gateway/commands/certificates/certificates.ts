// The command group `gateway certificates`. It lists the certificates for clients (list.ts). For `tls.acme`, it asks the running gateway to
// order or revoke a certificate, or to change the account key.

import type { Command } from 'commander';
import { askGateways, type CertificateRequest } from '../../acme/asking.ts';
import { SERVER } from '../../acme/records.ts';
import type { CommandContext } from '../context.ts';
import { printJson, printLine } from '../print.ts';
import { listCertificates } from './list.ts';
import { certificateStatusIn, type OpenedStore, openCertificateStore, WRITE_IT_THERE } from './store.ts';

interface OutputFlags {
  readonly json?: true;
}

export function addCertificatesCommands(program: Command, context: CommandContext): void {
  const certificates = program
    .command('certificates')
    .description('list certificates; order and revoke the certificates of tls.acme');
  certificates
    .command('list')
    .description('list the certificates in files and the certificates of tls.acme, with their state')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway certificates list')
    .action(({ json }: OutputFlags) => listCertificates(context, json === true));
  certificates
    .command('order')
    .description('order a certificate now, without waiting for its renewal or for the back-off')
    .argument('<name>', 'one of its host names')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nA running gateway does it: the limits of the ACME server are kept.\n\nExample:\n  gateway certificates order api.example.com',
    )
    .action((name: string, { json }: OutputFlags) =>
      withStore(context, async (opened) => {
        const id = requireId(context, opened, name);
        await ask(context, opened, id, 'order');
        const status = certificateStatusIn(opened, await opened.store.read(), context.now()).find(({ names }) =>
          names.includes(name),
        );
        if (json) printJson(context, status);
        else printLine(context, `${status?.names.join(', ')}: issued, valid until ${status?.expires_at}.`);
      }),
    );
  certificates
    .command('revoke')
    .description('revoke a certificate, for example after its key has leaked; the gateway orders another one at once')
    .argument('<name>', 'one of its host names')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway certificates revoke api.example.com')
    .action((name: string, { json }: OutputFlags) =>
      withStore(context, async (opened) => {
        const id = requireId(context, opened, name);
        await ask(context, opened, id, 'revoke');
        if (json) printJson(context, { names: id.split(','), revoked: true });
        else printLine(context, `${id.split(',').join(', ')}: revoked. The gateway orders another certificate.`);
      }),
    );
  certificates
    .command('account-key')
    .description('replace the key of the account at the ACME server')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  gateway certificates account-key')
    .action(({ json }: OutputFlags) =>
      withStore(context, async (opened) => {
        await ask(context, opened, SERVER, 'account key');
        if (json) printJson(context, { changed: true });
        else printLine(context, 'The account has a new key.');
      }),
    );
}

async function withStore(context: CommandContext, work: (opened: OpenedStore) => Promise<void>): Promise<void> {
  const opened = await openCertificateStore(context);
  try {
    await work(opened);
  } finally {
    opened.store.close();
  }
}

/** Ends the command with the reason if no gateway grants the request. */
async function ask(
  { actor, now, fail }: CommandContext,
  { store }: OpenedStore,
  id: string,
  kind: CertificateRequest['kind'],
): Promise<void> {
  const reason = await askGateways({ store, id, kind, by: actor, now });
  if (reason !== undefined) fail(reason);
}

function requireId(context: CommandContext, { ids, files }: OpenedStore, name: string): string {
  const id = ids.find((one) => one.split(',').includes(name));
  if (id !== undefined) return id;
  const inFile = files.find(({ names }) => names.includes(name));
  if (inFile !== undefined) context.fail(`the certificate for ${name} comes from ${inFile.file}: ${WRITE_IT_THERE}`);
  return context.fail(`no certificate of tls.acme is for ${name}. Its names are in gateway.yaml.`);
}
