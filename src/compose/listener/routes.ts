import type { IncomingHttpHeaders } from 'node:http';
import type { Format } from '../../formats/format.ts';
import { GatewayError, type Operation, type PathParams } from '../../plugin/index.ts';
import type { Routed } from '../../gateway/routed.ts';

/** The operations of one path and method. The request's headers select among them. */
export interface HttpRoute {
  readonly method: Operation['method'];
  /** The path as the operations write it. */
  readonly template: string;
  readonly path: RegExp;
  /**
   * Normalises a matching path: the operation's own spelling, with its parameters re-encoded. A path with broken
   * encoding is returned unchanged.
   */
  normalise(path: string): string;
  /** @param head of a request whose path matches */
  read(head: { readonly path: string; readonly headers: IncomingHttpHeaders }): Routed;
}

export function compileRoutes(operations: readonly Operation[]): readonly HttpRoute[] {
  const groups = Map.groupBy(operations, ({ method, path }) => `${method} ${path}`);
  return [...groups.values()].map((group) => compileRoute(group));
}

function compileRoute(group: readonly Operation[]): HttpRoute {
  const ordered = byHeader(group);
  const { method, path: template } = ordered[0]!;
  const pattern = compilePath(template);
  const hasParts = template.includes('{');
  return {
    method,
    template,
    path: pattern,
    normalise(path) {
      const params = hasParts ? readParams(pattern, path) : NO_PARTS;
      return params ? expand(template, params) : path;
    },
    read({ path, headers }) {
      const operation = operationFor(ordered, headers);
      const { format } = operation ?? ordered[0]!;
      const params = hasParts ? readParams(pattern, path) : NO_PARTS;
      if (params) return { operation, format, params };
      const refusal = new GatewayError('invalid_request', 'The path has a `%` that does not encode a character.');
      return { operation, format, params: {}, refusal };
    },
  };
}

/** Sorts operations that need a header first. The last one serves requests without such a header. */
const byHeader = (operations: readonly Operation[]): readonly Operation[] =>
  operations.toSorted((a, b) => Number(a.header === undefined) - Number(b.header === undefined));

const operationFor = (ordered: readonly Operation[], headers: IncomingHttpHeaders): Operation | undefined =>
  ordered.find(({ header }) => header === undefined || headers[header] !== undefined);

/**
 * Guesses the client's API for a path or method that no route serves: by the start of the path, otherwise by a header.
 * Undefined if neither matches.
 */
export function guessFormat(
  operations: readonly Operation[],
  { path, headers }: Parameters<HttpRoute['read']>[0],
): Format | undefined {
  const lower = path.toLowerCase();
  const sameStart = operations.filter((operation) => lower.startsWith(literalStart(operation)));
  const withHeader = operations.filter(({ header }) => header !== undefined);
  return operationFor(byHeader(sameStart.length > 0 ? sameStart : withHeader), headers)?.format;
}

const literalStart = ({ path }: Operation): string => path.split('{', 1)[0]!.toLowerCase();

const NO_PARTS: PathParams = Object.freeze({});

const PART = /\{(\+?)([a-z]+)\}/g;

/**
 * Encodes characters that a segment cannot contain (RFC 3986, section 3.3). `{+name}` also keeps its slashes (RFC 6570,
 * section 3.2.3).
 */
const expand = (template: string, params: PathParams): string =>
  template
    .replaceAll(PART, (_, several: string, name: string) =>
      encodeURIComponent(params[name] ?? '').replaceAll(several ? KEPT_IN_PATH : KEPT_IN_SEGMENT, decodeURIComponent),
    )
    // Otherwise a trailing slash would not belong to the parameter when the path is read again.
    .replace(/\/$/, '%2F');

/** The characters of `pchar` that `encodeURIComponent` encodes: `:`, `@`, `$`, `&`, `+`, `,`, `;` and `=`. */
const KEPT_IN_SEGMENT = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;
const KEPT_IN_PATH = /%(?:3A|40|24|26|2B|2C|3B|3D|2F)/g;

/** Matches in any case, with or without one trailing slash. */
function compilePath(template: string): RegExp {
  const pattern = template
    .split(/(\{\+?[a-z]+\})/)
    .map((piece) => {
      const [, several, name] = /^\{(\+?)([a-z]+)\}$/.exec(piece) ?? [];
      return name === undefined ? RegExp.escape(piece) : `(?<${name}>${several ? '.+?' : '[^/]+'})`;
    })
    .join('');
  return new RegExp(`^${pattern}/?$`, 'i');
}

/** Undefined if the encoding is invalid (RFC 3986, section 2.1) or does not decode to UTF-8. */
function readParams(pattern: RegExp, path: string): PathParams | undefined {
  try {
    const parts = Object.entries(pattern.exec(path)?.groups ?? {});
    return Object.fromEntries(parts.map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
