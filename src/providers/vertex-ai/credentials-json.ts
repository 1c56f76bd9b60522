import { authorizedUserSource } from './authorized-user.ts';
import { externalAccountSource } from './external-account.ts';
import { parseObject } from './google-oauth.ts';
import { impersonatedAccountSource } from './impersonated-account.ts';
import { serviceAccountSource } from './service-account.ts';
import {
  textOf,
  type CredentialFields,
  type ReadTokenSource,
  type SourceContext,
  type TokenSource,
} from './token-source.ts';

/** Kinds of credentials JSON, by Google's word for them. */
const READERS: ReadonlyMap<string, ReadTokenSource> = new Map<string, ReadTokenSource>([
  ['service_account', serviceAccountSource],
  ['authorized_user', authorizedUserSource],
  ['external_account', externalAccountSource],
  ['impersonated_service_account', (fields, context) => impersonatedAccountSource(fields, context, readFields)],
]);

/** Reads any credentials JSON of Google's. Messages never quote it: JSON.parse would show a piece of it. */
export function readCredentialsJson(text: string, context: SourceContext): TokenSource | undefined {
  const fields = parseObject(text);
  if (fields) return readFields(fields, context);
  return context.refuse(undefined, 'is not a JSON object, as Google writes credentials');
}

function readFields(fields: CredentialFields, context: SourceContext): TokenSource | undefined {
  const type = textOf(fields['type']);
  const read = type === undefined ? undefined : READERS.get(type);
  if (read) return read(fields, context);
  const known = [...READERS.keys()].join(', ');
  // Not even the type is quoted: a file that is no credentials file may hold anything there.
  const what = type === undefined ? 'has no type' : 'is of a type that is not supported';
  return context.refuse('type', `${what}; there are ${known}`);
}
