import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError, type Operation, type PathParams } from '../plugin/index.ts';
import type { Routed } from './request-path.ts';

/** Operations at one path and method; which of them a request is, its headers say. */
export interface Route {
  readonly method: Operation['method'];
  readonly path: RegExp;
  /** @param head of a request whose path fits */
  read(head: { readonly path: string; readonly headers: IncomingHttpHeaders }): Routed;
}

export function compileRoutes(operations: readonly Operation[]): readonly Route[] {
  const groups = Map.groupBy(operations, ({ method, path }) => `${method} ${path}`);
  return [...groups.values()].map((group) => compileRoute(group));
}

function compileRoute(group: readonly Operation[]): Route {
  // Any other is the one for requests without such a header.
  const ordered = group.toSorted((a, b) => Number(a.header === undefined) - Number(b.header === undefined));
  const { method, path } = ordered[0]!;
  const pattern = compilePath(path);
  const hasParts = path.includes('{');
  return {
    method,
    path: pattern,
    read({ path: asked, headers }) {
      const operation = ordered.find(({ header }) => header === undefined || headers[header] !== undefined);
      const params = hasParts ? readParams(pattern, asked) : NO_PARTS;
      if (params) return { operation, params };
      const refusal = new GatewayError('invalid_request', 'The path holds a `%` that encodes no character.');
      return { operation, params: {}, refusal };
    },
  };
}

const NO_PARTS: PathParams = Object.freeze({});

/** As the router matches a path without parts: in any case, with a slash at its end or without one. */
function compilePath(template: string): RegExp {
  const pattern = template
    .split(/(\{\+?[a-z]+\})/)
    .map((piece) => {
      const [, several, name] = /^\{(\+?)([a-z]+)\}$/.exec(piece) ?? [];
      return name === undefined ? RegExp.escape(piece) : `(?<${name}>${several ? '.+' : '[^/]+'})`;
    })
    .join('');
  return new RegExp(`^${pattern}/?$`, 'i');
}

/** Undefined where the encoding is broken (RFC 3986, section 2.1; and what is encoded must be UTF-8). */
function readParams(pattern: RegExp, path: string): PathParams | undefined {
  try {
    const parts = Object.entries(pattern.exec(path)?.groups ?? {});
    return Object.fromEntries(parts.map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
