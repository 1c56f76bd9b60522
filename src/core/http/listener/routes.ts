import type { IncomingHttpHeaders } from 'node:http';
import type { Format } from '../../../formats/format.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Operation, PathParams } from '../../kernel/index.ts';
import { KEY_IN_PATH } from './keys-in-urls.ts';
import type { Routed } from '../gateway/request-scope.ts';

/** The operations of one path and method. The request's headers and query select among them. */
export interface HttpRoute {
  readonly method: Operation['method'];
  readonly template: string;
  readonly path: RegExp;
  /** The operation's own spelling, with its parameters re-encoded. Broken encoding is returned unchanged. */
  normalise(path: string): string;
  read(head: RequestHead): Routed;
}

interface RequestHead {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Without `?`. */
  readonly querystring?: string;
}

export function compileRoutes(operations: readonly Operation[]): readonly HttpRoute[] {
  const groups = Map.groupBy(operations, ({ method, path }) => `${method} ${path}`);
  return [...groups.values()].map((group) => compileRoute(group));
}

function compileRoute(group: readonly Operation[]): HttpRoute {
  const ordered = bySelector(group);
  const { method, path: template } = ordered[0]!;
  const pattern = compilePath(template);
  const hasParts = template.includes('{');
  const texts = [...template.matchAll(PART)].flatMap(([, , name = '', values]) => (values ? [name] : []));
  const read = (path: string): PathParams | undefined => (hasParts ? readParams(pattern, path, texts) : NO_PARTS);
  const only = ordered.length === 1 && hasNoSelector(ordered[0]!) && !hasParts ? ordered[0] : undefined;
  const routed: Routed | undefined = only && { operation: only, format: only.format, params: NO_PARTS };
  return {
    method,
    template,
    path: pattern,
    normalise(path) {
      const params = read(path);
      return params ? expand(template, params) : path;
    },
    read({ path, headers, querystring = '' }) {
      if (routed) return routed;
      const operation = operationFor(ordered, headers, querystring);
      const { format } = operation ?? ordered[0]!;
      const params = read(path);
      if (params && path.includes(KEY_IN_PATH)) return { operation, format, params: {}, refusal: keyInPath() };
      if (params) return { operation, format, params };
      const refusal = new GatewayError('invalid_request', 'The path has a `%` that does not encode a character.');
      return { operation, format, params: {}, refusal };
    },
  };
}

const keyInPath = (): GatewayError =>
  new GatewayError('invalid_request', 'The path has `;key=`. Send the key in a header, or as `?key=`.');

/** Sorts operations that need a header or a query parameter first. The last one serves all other requests. */
const bySelector = (operations: readonly Operation[]): readonly Operation[] =>
  operations.toSorted((a, b) => Number(hasNoSelector(a)) - Number(hasNoSelector(b)));

const hasNoSelector = ({ header, query }: Operation): boolean => header === undefined && query === undefined;

const operationFor = (
  ordered: readonly Operation[],
  headers: IncomingHttpHeaders,
  querystring: string,
): Operation | undefined =>
  ordered.find(
    ({ header, query }) =>
      (header === undefined || headers[header] !== undefined) &&
      (query === undefined || new URLSearchParams(querystring).get(query.name) === query.value),
  );

/** Guesses the client's API where no route serves: by the start of the path, otherwise by a header. */
export function guessFormat(
  operations: readonly Operation[],
  { path, headers, querystring = '' }: RequestHead,
): Format | undefined {
  const lower = path.toLowerCase();
  const sameStart = operations.filter((operation) => literalStarts(operation).some((start) => lower.startsWith(start)));
  const withHeader = operations.filter(({ header }) => header !== undefined);
  return operationFor(bySelector(sameStart.length > 0 ? sameStart : withHeader), headers, querystring)?.format;
}

/** The prefix of the operation's paths, up to the first parameter that may be any text. */
function literalStarts({ path }: Operation): readonly string[] {
  const [, before = path.split('{', 1)[0]!, texts = '', after = ''] = FIRST_TEXTS.exec(path) ?? [];
  return texts.split('|').map((text) => (before + text + after).toLowerCase());
}

const FIRST_TEXTS = /^([^{]*)\{[a-z]+:([\w|]+)\}([^{]*)/;

const NO_PARTS: PathParams = Object.freeze({});

/** A parameter of a template: whether it keeps its slashes, its name, and the texts that it may be. */
const PART = /\{(\+?)([a-z]+)(?::([\w|]+))?\}/g;

/** Encodes characters that a segment cannot contain (RFC 3986, section 3.3); `{+name}` keeps its slashes. */
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
  let pattern = '';
  let from = 0;
  for (const { 0: part, 1: several, 2: name = '', 3: texts, index } of template.matchAll(PART)) {
    const values = texts ?? (several ? '.+?' : '[^/]+');
    pattern += `${RegExp.escape(template.slice(from, index))}(?<${name}>${values})`;
    from = index + part.length;
  }
  return new RegExp(`^${pattern}${RegExp.escape(template.slice(from))}/?$`, 'i');
}

/**
 * Undefined if the encoding is invalid (RFC 3986, section 2.1) or does not decode to UTF-8.
 * @param texts names of the parameters that are one of several texts, which templates write in lower case
 */
function readParams(pattern: RegExp, path: string, texts: readonly string[]): PathParams | undefined {
  try {
    const parts = Object.entries(pattern.exec(path)?.groups ?? {});
    return Object.fromEntries(
      parts.map(([name, text]) => [name, texts.includes(name) ? text.toLowerCase() : decodeURIComponent(text)]),
    );
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
