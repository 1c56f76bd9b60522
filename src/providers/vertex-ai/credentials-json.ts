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

/** The readers by Google's `type` of a credentials JSON. */
const READERS: ReadonlyMap<string, ReadTokenSource> = new Map<string, ReadTokenSource>([
  ['service_account', serviceAccountSource],
  ['authorized_user', authorizedUserSource],
  ['external_account', externalAccountSource],
  ['impersonated_service_account', (fields, context) => impersonatedAccountSource(fields, context, readFields)],
]);

/** Reads a Google credentials JSON of any type. Messages never quote it, nor the error of JSON.parse, which contains a part of it. */
export function readCredentialsJson(text: string, context: SourceContext): TokenSource | undefined {
  const fields = parseObject(text);
  if (fields) return readFields(fields, context);
  return context.refuse(undefined, 'is not a JSON object in the form of Google credentials');
}

function readFields(fields: CredentialFields, context: SourceContext): TokenSource | undefined {
  const type = textOf(fields['type']);
  const read = type === undefined ? undefined : READERS.get(type);
  if (read) return read(fields, context);
  const known = [...READERS.keys()].join(', ');
  // Not even the type is quoted: another kind of file may have a secret there.
  const problem = type === undefined ? 'has no type' : 'has a type that is not supported';
  return context.refuse('type', `${problem}; supported are ${known}`);
}
