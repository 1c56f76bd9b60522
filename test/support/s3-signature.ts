import { createHmac, hash } from 'node:crypto';

/** A request as a server of Amazon sees it. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
  /** `20150830T123600Z` */
  readonly datetime: string;
  readonly secret: string;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const decode = (text: string): string => decodeURIComponent(text.replaceAll('+', '%20'));

const byCode = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** "Create a signed AWS API request", docs.aws.amazon.com/IAM/latest/UserGuide: the canonical request of Signature Version 4. */
export function canonicalRequest({ method, target, headers }: SeenRequest, signed: string, digest: string): string {
  const [path = '', query = ''] = target.split('?', 2);
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('=', 2).map(decode));
  const canonicalQuery = pairs
    .map(([name = '', value = '']) => [encode(name), encode(value)] as const)
    .toSorted(([a, x], [b, y]) => byCode(a, b) || byCode(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  const lines = signed.split(';').map((name) => `${name}:${String(headers[name]).trim().replaceAll(/ +/g, ' ')}\n`);
  const canonicalPath = path.split('/').map(decodeURIComponent).map(encode).join('/');
  return [method, canonicalPath, canonicalQuery, lines.join(''), signed, digest].join('\n');
}

export function signatureOf(canonical: string, { region, service, datetime, secret }: SigningScope): string {
  const day = datetime.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', datetime, scope, hash('sha256', canonical)].join('\n');
  const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), 'aws4_request');
  return hmac(key, text).toString('hex');
}
