// The pages of a login. The callback answers with a page that navigates to the target, because a browser does not send a Strict cookie
// along a redirect from another site, but sends it with a request that a page of the platform makes.

import { hash } from 'node:crypto';

const GO_ON = 'location.replace(document.currentScript.dataset.to)';
/** A script that navigates to the target if the person is signed in nevertheless, for example by another tab. */
const GO_ON_IF_SIGNED_IN = `const{to,header}=document.currentScript.dataset;fetch('/session',header?{headers:{[header]:'1'}}:{}).then(a=>{if(a.ok)location.replace(to)})`;
const STYLE = [
  ':root{color-scheme:light dark}',
  'body{margin:0;min-height:100dvh;display:grid;place-items:center;font:1rem/1.55 system-ui,"Segoe UI",Helvetica,Arial,sans-serif;background:light-dark(#f4f6f9,#0e1017);color:light-dark(#14161f,#eceef5)}',
  'main{box-sizing:border-box;width:min(30rem,100vw - 2rem);margin:1rem;padding:2rem;background:light-dark(#fff,#171a24);border:1px solid light-dark(#e3e5ec,#272c3a);border-radius:.75rem}',
  'h1{margin:0 0 .5rem;font-size:1.5rem;line-height:1.25;letter-spacing:-.015em}p{margin:0 0 1rem}p:last-child{margin:0}',
  'a{display:inline-block;padding:.5rem 1.1rem;border-radius:.4rem;background:light-dark(#4338ca,#a5a0ff);color:light-dark(#fff,#0e1017);font-weight:600;text-decoration:none}',
  '.brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.5rem;font-weight:600}.mark{width:1.5rem;height:1.5rem;color:light-dark(#4f46e5,#7c74f5)}',
  '.ways{display:flex;flex-wrap:wrap;gap:.75rem}',
  ':focus-visible{outline:2px solid light-dark(#4f46e5,#7c74f5);outline-offset:3px}',
  '.id{font-size:.875rem;color:light-dark(#565c6e,#a4abbd)}code{overflow-wrap:anywhere}',
].join('');

export interface LoginPage {
  readonly html: string;
  /** Its Content-Security-Policy. The page loads nothing, and runs one script, which the policy names by its hash. */
  readonly policy: string;
}

/** The name and the mark of the platform, for the pages of a login. */
export interface Brand {
  readonly name: string;
  /** An SVG that the gateway has made; undefined if there is none. */
  readonly mark: string | undefined;
}

/** Returns the page that navigates to the target after a login. @param to a path of the same origin */
export function signedInPage(to: string, brand: Brand | undefined): LoginPage {
  const body = `<h1>You are signed in</h1><p><a href="${escapeHtml(to)}">Continue</a></p>`;
  return page('Signed in', body, { script: GO_ON, to, header: undefined, brand });
}

interface FailedLogin {
  readonly title: string;
  readonly message: string;
  readonly requestId: string;
  /** The names of all providers, among which the person chooses. */
  readonly providers: readonly string[];
  /** The path to which the person returns after the login, or after another attempt. */
  readonly returnTo: string;
  /** The header that pages have to send; undefined if there is none. */
  readonly requestHeader: string | undefined;
  readonly brand: Brand | undefined;
}

export function failedLoginPage(failed: FailedLogin): LoginPage {
  const { title, message, requestId, returnTo, requestHeader, brand } = failed;
  const body = `<h1>${escapeHtml(title)}</h1><p>${escapeHtml(message)}</p><p class="ways">${waysIn(failed)}</p><p class="id">Request id: <code>${escapeHtml(requestId)}</code></p>`;
  return page(title, body, { script: GO_ON_IF_SIGNED_IN, to: returnTo, header: requestHeader, brand });
}

/** Returns a button for each provider. */
function waysIn({ providers, returnTo }: FailedLogin): string {
  const again = `/session/login?return_to=${encodeURIComponent(returnTo)}`;
  const button = (address: string, text: string) => `<a href="${escapeHtml(address)}">${escapeHtml(text)}</a>`;
  if (providers.length === 1) return button(again, 'Sign in again');
  return providers
    .map((name) => button(`${again}&provider=${encodeURIComponent(name)}`, `Sign in with ${name}`))
    .join('');
}

interface Frame {
  readonly script: string;
  readonly to: string;
  readonly header: string | undefined;
  readonly brand: Brand | undefined;
}

function page(title: string, body: string, { script, to, header, brand }: Frame): LoginPage {
  const head =
    brand === undefined ? '' : `<p class="brand">${brand.mark ?? ''}<span>${escapeHtml(brand.name)}</span></p>`;
  const about = header === undefined ? '' : ` data-header="${escapeHtml(header)}"`;
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${STYLE}</style><body><main>${head}${body}</main><script data-to="${escapeHtml(to)}"${about}>${script}</script></html>\n`;
  return { html, policy: policyOf(script) };
}

const policies = new Map<string, string>();

function policyOf(script: string): string {
  let policy = policies.get(script);
  if (policy === undefined) {
    const digest = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
    policy = [
      "default-src 'none'",
      `script-src ${digest(script)}`,
      `style-src ${digest(STYLE)}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
    policies.set(script, policy);
  }
  return policy;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
