import { credentialHeaders } from '../../../../core/settings/checks/forward-headers.ts';
import { mayHoldCredential } from '../../../../core/settings/values/credential-names.ts';
import { secretsInBody } from '../../../../formats/body-secrets.ts';
import { isRawNumber } from '../../../../formats/json/rounding.ts';
import type { Observation } from '../observation.ts';
import type { ExplainQuestion } from '../question.ts';
import { SECRET } from '../../../../core/dry-run/calls.ts';
import { FAKE_TOKEN } from '../../../../core/dry-run/fakes.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../../../../formats/json/object.ts';

/** The scheme in front of a credential, which is not secret. */
const SCHEME = /^(?:Bearer|Basic) +/i;

/** Masks the value of a credential header, even a short one. */
export const maskedHeader = (value: string): string => (SCHEME.exec(value)?.[0] ?? '') + SECRET;

/**
 * Removes secrets from anywhere in an explanation: callers quote keys in prompts, and settings put secrets into bodies.
 * Covers secrets of the settings, credentials of the request and of its providers, and texts in the format of a key.
 */
export function withoutSecrets<T>(reported: T, seen: Observation): T {
  const text = JSON.stringify(reported);
  // Settings may have hundreds of keys, and hardly one is ever quoted: only those that occur are replaced.
  const forms = secretsOf(seen).flatMap(formsOf);
  const quoted = [...new Set(forms)].filter((form) => text.includes(inJson(form)));
  // Longest first, because one may be part of another.
  const secrets = quoted.toSorted((a, b) => b.length - a.length);
  if (secrets.length === 0 && !HINT.test(text)) return reported;
  // Only texts change, so the type stays the same.
  return mapped(reported, (one) =>
    withoutShapes(secrets.reduce((rest, form) => rest.replaceAll(form, SECRET), one)),
  ) as T;
}

/** A secret as plain text, in JSON inside a text (once or twice), and in a URL. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  inJson(secret),
  inJson(inJson(secret)),
  encodeURIComponent(secret.toWellFormed()),
];

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function secretsOf({ loaded, attempts, exchange, settings, question }: Observation): readonly string[] {
  const { request, upstreamToken } = exchange;
  const own = request.headerName('api-key');
  const named = credentialHeaders(settings.catalog.providers);
  const ofProviders = attempts.flatMap(({ calls }) =>
    calls.flatMap(({ request: { headers }, credentials }) => credentials.map((name) => headers[name] ?? '')),
  );
  return [
    ...loaded.secrets().flatMap(withParts),
    ...credentialsIn(request.headers, (name) => name === own || named.has(name) || mayHoldCredential(name)),
    ...[upstreamToken?.reveal() ?? '', ...ofProviders].flatMap(partsOf),
    ...(question.secrets ?? []).map((secret) => secret.reveal()),
    ...bodiesOf(question, attempts).flatMap(secretsInBody),
  ].filter((text) => text.length >= SHORTEST && text !== FAKE_TOKEN);
}

/** The client's body and those of the upstreams: a config may set a tool in them. */
const bodiesOf = ({ body }: ExplainQuestion, attempts: Observation['attempts']): readonly (string | Buffer)[] => [
  body,
  ...attempts.flatMap(({ outbound }) => (outbound && !outbound.answer ? [outbound.body] : [])),
];

/** Service account credentials are JSON with secret fields. */
function withParts(secret: string): readonly string[] {
  if (!secret.trimStart().startsWith('{')) return [secret];
  const values = Object.entries(Object(parseJson(secret)) as object).flatMap(([name, value]: [string, unknown]) =>
    SECRET_PART.test(name) && typeof value === 'string' ? [value] : [],
  );
  return [secret, ...values];
}

const SECRET_PART = /^(?:private_key(?:_id)?|client_secret|refresh_token|access_token)$/;

/** Formats of vendor and gateway keys, tokens, and passwords in URLs, which users paste into wrong places. */
const SHAPES =
  /(?<![A-Za-z0-9])sk-[\w-]{8,}|gatehouse_[a-z0-9]+_[\w-]{24,}|AIza[\w-]{20,}|ya29\.[\w.-]{8,}|eyJ[\w-]{10,}\.[\w.-]*|(?<=:\/\/)[^/\s@"]*:[^/\s@"]*(?=@)/g;
const HINT = /sk-|gatehouse_[a-z0-9]+_[\w-]{24}|AIza|ya29\.|eyJ|:\/\/[^/\s"]*@|-----BEGIN/;
const PEM = '-----BEGIN';

function withoutShapes(text: string): string {
  if (!HINT.test(text)) return text;
  const at = text.includes('PRIVATE KEY') ? text.indexOf(PEM) : -1;
  const open = at < 0 ? text : text.slice(0, at) + SECRET;
  // Word by word, so that the time is linear in the length of the text.
  return open.replaceAll(/\S{8,2048}/g, (word) => (HINT.test(word) ? word.replaceAll(SHAPES, SECRET) : word));
}

/** Maps all texts of a value, including field names. */
function mapped(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (Array.isArray(value)) return value.map((item) => mapped(item, mask));
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [mask(name), mapped(inner, mask)]));
}

/** Replaces a caller's upstream credential in a stored request. */
export const FAKE_CREDENTIAL = 'upstream-token-of-the-caller';

/** Minimum length of a credential. Shorter texts occur in many words, and no real credential is so short. */
const SHORTEST = 8;

/** Credentials in headers with credential names: the value, the part after its scheme, cookies. */
export function credentialsIn(
  headers: IncomingHttpHeaders,
  holds: (name: string) => boolean = mayHoldCredential,
): readonly string[] {
  const held = Object.entries(headers).flatMap(([name, value]) => (holds(name) ? (value ?? []) : []));
  return [...new Set(held.flatMap(partsOf))].filter(({ length }) => length >= SHORTEST);
}

function partsOf(value: string): readonly string[] {
  const bare = value.replace(/^[\w-]+ +/, '').trim();
  const cookies = value.split(';').flatMap((pair) => /^\s*[^=\s]+=(.+)$/.exec(pair)?.[1]?.trim() ?? []);
  return [value.trim(), bare, ...cookies];
}
