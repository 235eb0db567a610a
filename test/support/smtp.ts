// A mail server on loopback that speaks SMTP (RFC 5321) with STARTTLS and AUTH, and keeps all mails.

import { createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { CertificatePair } from './certificates.ts';
import { listening } from './upstream.ts';

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** Unfolded lines before the first empty line. */
  readonly headers: readonly string[];
  readonly body: string;
  readonly isEncrypted: boolean;
  /** `user:password`; undefined: without a login. */
  readonly login: string | undefined;
}

interface SmtpOptions {
  /** Offers STARTTLS. */
  readonly certificate?: CertificatePair;
  /** The one `user:password` that it accepts; absent: it asks for none. */
  readonly login?: string;
  /** Answers in the place of the usual answer to this command; an empty one: none at all. */
  readonly answers?: Readonly<Record<string, string>>;
}

export async function startSmtp({ certificate, login, answers = {} }: SmtpOptions = {}) {
  const mails: Mail[] = [];
  const commands: string[] = [];

  function serve(socket: Socket, isEncrypted: boolean): void {
    let buffered = '';
    let known: string | undefined;
    let envelope: { from: string; to: string[] } = { from: '', to: [] };
    let isData = false;
    const say = (usual: string, command = '') => {
      const line = answers[command] ?? usual;
      if (line !== '') socket.write(`${line}\r\n`);
    };

    function extensions(): string {
      const offered = [
        ...(certificate && !isEncrypted ? ['STARTTLS'] : []),
        ...(login === undefined ? [] : ['AUTH PLAIN']),
        '8BITMIME',
      ];
      return ['mail.test', ...offered]
        .map((line, index, all) => `250${index < all.length - 1 ? '-' : ' '}${line}`)
        .join('\r\n');
    }

    function encrypt({ key, certificate: cert }: CertificatePair): void {
      socket.removeAllListeners('data');
      serve(new TLSSocket(socket, { isServer: true, secureContext: createSecureContext({ key, cert }) }), true);
    }

    /** Returns the usual answer to a command. */
    function answerTo(verb: string, line: string): string {
      switch (verb) {
        case 'EHLO':
          return extensions();
        case 'STARTTLS':
          return certificate ? '220 go ahead' : '502 unknown';
        case 'AUTH':
          known = Buffer.from(line.split(' ')[2] ?? '', 'base64')
            .toString()
            .split('\0')
            .slice(1)
            .join(':');
          return known === login ? '235 welcome' : '535 wrong password';
        case 'MAIL':
          envelope = { from: /<(.*?)>/.exec(line)?.[1] ?? '', to: [] };
          return '250 ok';
        case 'RCPT':
          envelope.to.push(/<(.*?)>/.exec(line)?.[1] ?? '');
          return '250 ok';
        case 'DATA':
          return '354 go on';
        case 'QUIT':
          return '221 bye';
        default:
          return '502 unknown';
      }
    }

    function take(line: string): void {
      const [verb = ''] = line.split(' ');
      commands.push(line);
      say(answerTo(verb, line), verb);
      isData = verb === 'DATA' && answers.DATA === undefined;
      if (verb === 'STARTTLS' && certificate) encrypt(certificate);
    }

    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1');
      for (;;) {
        const ending = isData ? '\r\n.\r\n' : '\r\n';
        const end = buffered.indexOf(ending);
        if (end === -1) return;
        const text = buffered.slice(0, end);
        buffered = buffered.slice(end + ending.length);
        if (!isData) take(text);
        else {
          isData = false;
          mails.push({ ...envelope, ...contentOf(text), isEncrypted, login: known });
          say('250 taken', 'END');
        }
      }
    });
  }

  const server = createServer((socket) => {
    if (answers.GREETING !== '') socket.write('220 mail.test\r\n');
    serve(socket, false);
  });
  const { port, close } = await listening(server);
  return { server: `127.0.0.1:${port}`, port, mails, commands, close };
}

function contentOf(text: string): Pick<Mail, 'headers' | 'body'> {
  const end = text.indexOf('\r\n\r\n');
  const headers = text.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  return { headers: headers.split('\r\n'), body: text.slice(end + 4).replace(/\r\n/g, '\n') };
}
