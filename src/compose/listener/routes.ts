import type { IncomingHttpHeaders } from 'node:http';
import type { Format } from '../../formats/format.ts';
import { GatewayError, type Operation, type PathParams } from '../../plugin/index.ts';
import type { Routed } from '../../gateway/routed.ts';

/** Operations at one path and method; which of them a request is, its headers say. */
export interface HttpRoute {
  readonly method: Operation['method'];
  readonly path: RegExp;
  /**
   * The one spelling of a path that fits: the operation's own, with its parts as they decode. A path whose encoding is broken stays.
   */
  spell(path: string): string;
  /** @param head of a request whose path fits */
  read(head: { readonly path: string; readonly headers: IncomingHttpHeaders }): Routed;
}

export function compileRoutes(operations: readonly Operation[]): readonly HttpRoute[] {
  const groups = Map.groupBy(operations, ({ method, path }) => `${method} ${path}`);
  return [...groups.values()].map((group) => compileRoute(group));
}

function compileRoute(group: readonly Operation[]): HttpRoute {
  const ordered = byHeader(group);
  const { method, path } = ordered[0]!;
  const pattern = compilePath(path);
  const hasParts = path.includes('{');
  return {
    method,
    path: pattern,
    spell(asked) {
      const params = hasParts ? readParams(pattern, asked) : NO_PARTS;
      return params ? expand(path, params) : asked;
    },
    read({ path: asked, headers }) {
      const operation = operationFor(ordered, headers);
      const { format } = operation ?? ordered[0]!;
      const params = hasParts ? readParams(pattern, asked) : NO_PARTS;
      if (params) return { operation, format, params };
      const refusal = new GatewayError('invalid_request', 'The path holds a `%` that encodes no character.');
      return { operation, format, params: {}, refusal };
    },
  };
}

/** Those that a header asks for come first: any other is the one for requests without it. */
const byHeader = (operations: readonly Operation[]): readonly Operation[] =>
  operations.toSorted((a, b) => Number(a.header === undefined) - Number(b.header === undefined));

const operationFor = (ordered: readonly Operation[], headers: IncomingHttpHeaders): Operation | undefined =>
  ordered.find(({ header }) => header === undefined || headers[header] !== undefined);

/**
 * The API of a client that has asked at a path, or with a method, that is not served: the one that paths of such a beginning
 * belong to, or the one whose header it sends. Undefined where nothing tells.
 */
export function guessFormat(
  operations: readonly Operation[],
  { path, headers }: Parameters<HttpRoute['read']>[0],
): Format | undefined {
  const asked = path.toLowerCase();
  const near = operations.filter((operation) => asked.startsWith(literalStart(operation)));
  const far = operations.filter(({ header }) => header !== undefined);
  return operationFor(byHeader(near.length > 0 ? near : far), headers)?.format;
}

const literalStart = ({ path }: Operation): string => path.split('{', 1)[0]!.toLowerCase();

const NO_PARTS: PathParams = Object.freeze({});

const PART = /\{(\+?)([a-z]+)\}/g;

/** Encodes what a segment cannot hold as it is (RFC 3986, section 3.3). `{+name}` also keeps its slashes (RFC 6570, section 3.2.3). */
const expand = (template: string, params: PathParams): string =>
  template
    .replaceAll(PART, (_, several: string, name: string) =>
      encodeURIComponent(params[name] ?? '').replaceAll(several ? KEPT_IN_PATH : KEPT_IN_SEGMENT, decodeURIComponent),
    )
    // Read again, a bare slash at the end would not belong to the part.
    .replace(/\/$/, '%2F');

/** What `encodeURIComponent` encodes of `pchar`: `:`, `@`, `$`, `&`, `+`, `,`, `;` and `=`. */
const KEPT_IN_SEGMENT = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;
const KEPT_IN_PATH = /%(?:3A|40|24|26|2B|2C|3B|3D|2F)/g;

/** In any case, with one slash at its end or without. */
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
