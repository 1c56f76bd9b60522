import { isAbsolute } from 'node:path';
import { parseObject, TokenFault } from './google-oauth.ts';
import { readTextFile } from './text-file.ts';
import { textOf, type CredentialFields, type Refuse } from './token-source.ts';
import { isObject } from '../../formats/json/object.ts';

/** The token of a workload from another issuer, in a file that its platform renews. */
export interface SubjectToken {
  /** Reads the file each time: Kubernetes replaces it before its token expires. Throws TokenFault. */
  read(): Promise<string>;
}

/** Sources of a subject token that Google's files may name and the gateway does not support, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  url: 'with a url, a credentials file could make the gateway call any address',
  executable: 'with an executable, a credentials file could make the gateway run any program',
  environment_id: 'AWS credentials are not supported',
  certificate: 'certificates (X.509 federation) are not supported',
};

/** The `credential_source` of an `external_account`. */
export function subjectTokenFile(source: unknown, refuse: Refuse): SubjectToken | undefined {
  if (!isObject(source)) return refuse('credential_source', 'credential_source is missing');
  const other = Object.keys(REFUSED).find((key) => source[key] !== undefined);
  if (other !== undefined) {
    return refuse('credential_source', `credential_source.${other}: ${REFUSED[other]}; only \`file\` is supported`);
  }
  const path = textOf(source['file']);
  if (path === undefined) return refuse('credential_source', 'credential_source.file is missing');
  // A relative path would depend on the folder in which the gateway was started.
  if (!isAbsolute(path)) return refuse('credential_source', 'credential_source.file is not an absolute path');
  const field = readFormat(source['format'], refuse);
  return field && { read: async () => tokenIn(await readFile(path), path, field.name) };
}

/** The field with the token in a JSON file; without a name, the whole file is the token. */
function readFormat(format: unknown, refuse: Refuse): { readonly name?: string } | undefined {
  const { type, subject_token_field_name: name }: CredentialFields =
    format === undefined ? { type: 'text' } : Object(format);
  if (type === 'text') return {};
  if (type !== 'json') {
    return refuse('credential_source', 'credential_source.format.type is neither "text" nor "json"');
  }
  const field = textOf(name);
  if (field !== undefined) return { name: field };
  return refuse('credential_source', 'credential_source.format.subject_token_field_name is missing');
}

async function readFile(path: string): Promise<string> {
  const file = await readTextFile(path);
  if ('text' in file) return file.text;
  throw new TokenFault(
    'missing' in file ? `there is no subject token file ${path}` : `the subject token file ${path} ${file.problem}`,
  );
}

function tokenIn(content: string, path: string, field: string | undefined): string {
  const json = field === undefined ? undefined : parseObject(content);
  if (field !== undefined && !json) throw new TokenFault(`the subject token file ${path} is not a JSON object`);
  const token = textOf(field === undefined ? content.trim() : json?.[field]);
  // Every kind of token is one printable word (JWT, base64url of a SAML assertion); other text means a wrong file.
  if (token !== undefined && /^[\x21-\x7e]+$/.test(token)) return token;
  if (token !== undefined) throw new TokenFault(`the subject token file ${path} does not contain a token`);
  const problem = field === undefined ? 'is empty' : `has no text in ${JSON.stringify(field)}`;
  throw new TokenFault(`the subject token file ${path} ${problem}`);
}
