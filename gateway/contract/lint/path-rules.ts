// The lint rules about paths, methods and servers that the gateway does not serve, or serves in another way than the author may think.

import { isRef, type Oas3Rule } from '@redocly/openapi-core';
import { METHODS } from '../../shared/http/words.ts';
import { closest } from '../../shared/mistakes.ts';
import { isRequestable, shapeOf } from '../operations/routes.ts';
import { serverPathsOf } from '../operations/servers.ts';
import { isRecord, type JsonObject, objectAt } from '../pointer.ts';

const SHOWN_SERVERS_MAX = 5;

/** Reports parameters of paths in the forms of routers, and braces without their other half. The gateway takes them literally. */
export const pathsHaveTemplates: Oas3Rule = () => ({
  Paths(paths, { report, location, resolve }) {
    const declares = (holder: unknown, name: string) =>
      [isRecord(holder) ? holder.parameters : []].flat().some((one) => {
        const parameter = isRef(one) ? resolve<JsonObject>(one).node : one;
        return isRecord(parameter) && parameter.in === 'path' && parameter.name === name;
      });
    for (const [template, item] of Object.entries(paths)) {
      if (!template.startsWith('/')) continue;
      const wrong = template.split('/').find((segment) => /^:\w+$|^<[^<>]+>$/.test(segment) || hasLooseBrace(segment));
      if (wrong === undefined) continue;
      const name = /\w+(?=\W*$)/.exec(wrong)?.[0] ?? 'name';
      report({
        message: `${JSON.stringify(wrong)} is not a parameter, so only requests with these very characters match`,
        suggest: [template.replace(wrong, `{${name}}`)],
        location: location.child([template]).key(),
        forceSeverity:
          hasLooseBrace(wrong) || [item, ...Object.values(item ?? {})].some((one) => declares(one, name))
            ? 'error'
            : 'warn',
      });
    }
  },
});

function hasLooseBrace(segment: string): boolean {
  return /[{}]/.test(segment.replace(/\{[^{}]*\}/g, ''));
}

/** A path ends before a question mark; a number sign in it must be written as an escape. */
export const pathsCanBeRequested: Oas3Rule = () => ({
  Paths(paths, { report, location }) {
    for (const template of Object.keys(paths)) {
      if (!template.startsWith('/') || !/[?#]/.test(template)) continue;
      const message = isRequestable(template)
        ? 'clients reach this path only if they write # as %23, and the upstream gets it as %23, too'
        : 'no request has this path, because it ends before the question mark, so its operations are not served';
      report({ message, location: location.child([template]).key() });
    }
  },
});

/** Reports two forms of one path. If both have a method, the operations are in conflict, which is a mistake of its own. */
export const pathsAreWrittenOnce: Oas3Rule = () => ({
  Paths(paths, { report, location }) {
    for (const [first = '', ...others] of Map.groupBy(Object.keys(paths), (one) => shapeOf(one)).values()) {
      for (const template of others) {
        if (METHODS.some((method) => [first, template].every((one) => method.toLowerCase() in (paths[one] ?? {}))))
          continue;
        const message = `${JSON.stringify(template)} and ${JSON.stringify(first)} are one path, because only the names of parameters differ`;
        report({ message, location: location.child([template]).key() });
      }
    }
  },
});

/** Reports operations whose methods the gateway does not know. */
export const methodsAreServed: Oas3Rule = () => ({
  PathItem(item, { report, location }) {
    const { additionalOperations } = item as { additionalOperations?: unknown };
    if (typeof additionalOperations !== 'object' || additionalOperations === null) return;
    for (const method of Object.keys(additionalOperations)) {
      const message = `the gateway does not serve the method ${JSON.stringify(method)}, so this operation is left out`;
      report({ message, location: location.child(['additionalOperations', method]).key() });
    }
  },
});

/** The document is published, and the gateway sends no credentials of an address. */
export const serversHaveNoCredentials: Oas3Rule = () => ({
  Server({ url }, { report, location }) {
    const { username, password } = URL.parse(url) ?? {};
    if (!username && !password) return;
    const message = 'the address has credentials, and everyone who reads the document gets them';
    report({ message, location: location.child(['url']) });
  },
});

/** An entry may replace the security of its documents, so that no other check reads it. */
export const securitySchemesExist: Oas3Rule = () => {
  let known: string[] = [];
  return {
    Root(root) {
      known = Object.keys(objectAt(objectAt(root, 'components'), 'securitySchemes'));
    },
    SecurityRequirement(requirement, { report, location }) {
      for (const name of Object.keys(requirement).filter((one) => !known.includes(one))) {
        const near = closest(name, known);
        const suggest = near === undefined ? [] : [near];
        report({ message: `there is no security scheme "${name}"`, suggest, location: location.child([name]).key() });
      }
    },
  };
};

/** Matches an address without a scheme: a host name with a dot or a port. */
const HOST_FIRST = /^(?:localhost|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}|[\w.-]+(?=:\d))(?::\d+)?(?:\/|$)/i;

export const serversAreServed: Oas3Rule = () => ({
  Server({ url }, { report, location }) {
    if (!HOST_FIRST.test(url)) return;
    const message = `the server "${url}" has no https:// in front of its host, so it is read as a path`;
    report({ message, suggest: [`https://${url}`], location: location.child(['url']) });
  },
  Root(root, { report, location }) {
    const { used, others } = serverPathsOf(root);
    if (others.length === 0) return;
    const shown = others.slice(0, SHOWN_SERVERS_MAX).map((path) => path || '/');
    const more = others.length > SHOWN_SERVERS_MAX ? ', …' : '';
    const message = `paths begin with ${used || '/'}, where the first server does; those of other servers are not served: ${shown.join(', ')}${more}`;
    report({ message, location: location.child(['servers']) });
  },
});
