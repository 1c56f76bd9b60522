import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canonicalRequest, signatureOf } from './s3-signature.ts';

interface StoredObject {
  bytes: Buffer;
  readonly etag: string;
  readonly contentType: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly modified: Date;
}

interface Multipart {
  readonly key: string;
  readonly initiated: Date;
  readonly parts: Map<number, { readonly bytes: Buffer; readonly etag: string }>;
}

export interface S3Call {
  readonly method: string;
  readonly key: string;
  readonly query: URLSearchParams;
  /** `PUT part 2`, `LIST`, `COPY`: the operation, without names. */
  readonly does: string;
}

/**
 * A reply in place of the server's own. `after`: the call has its effect before. `cut`: the connection ends without a reply. `endless`: its
 * body goes on until the connection ends.
 */
interface Answer {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly after?: boolean;
  readonly cut?: boolean;
  readonly endless?: boolean;
}

export interface ScriptedS3 {
  readonly url: string;
  readonly objects: Map<string, StoredObject>;
  readonly uploads: Map<string, Multipart>;
  /** What the calls did, in order. */
  readonly calls: string[];
  /** Codes of the server's own refusals. */
  readonly refusals: string[];
  /** The credentials that it knows. May be changed while it runs. */
  credentials: S3TestCredentials;
  script: ((call: S3Call) => Answer | undefined) | undefined;
  /** Objects of one page of a listing, at most. */
  page: number;
  close(): Promise<void>;
}

export interface S3TestCredentials {
  readonly id: string;
  readonly secret: string;
  readonly token?: string | undefined;
}

export const S3_BUCKET = 'team-files';
export const S3_REGION = 'eu-central-1';
const LEAST_PART = 5 * 1024 * 1024;
const SKEW_MS = 15 * 60_000;

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly more: string;

  constructor(status: number, code: string, more = '') {
    super(code);
    this.status = status;
    this.code = code;
    this.more = more;
  }
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const document = (root: string, content: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${content}</${root}>`;

const errorOf = (code: string, more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>It failed.</Message>${more}<RequestId>1</RequestId></Error>`;

const md5 = (bytes: Buffer): string => `"${hash('md5', bytes)}"`;

const header = (req: IncomingMessage, name: string): string => String(req.headers[name] ?? '');

/** S3's own error quotes the request, its headers among it. */
function checkSignature(req: IncomingMessage, body: Buffer, { id, secret, token }: S3TestCredentials): void {
  const authorization =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
  const [, key, day, region, signed = '', signature] = authorization.exec(header(req, 'authorization')) ?? [];
  if (key === undefined) throw new Refusal(403, 'AccessDenied');
  if (key !== id) throw new Refusal(403, 'InvalidAccessKeyId', `<AWSAccessKeyId>${key}</AWSAccessKeyId>`);
  if (region !== S3_REGION) throw new Refusal(400, 'AuthorizationHeaderMalformed', `<Region>${S3_REGION}</Region>`);
  const datetime = header(req, 'x-amz-date');
  const sentAt = Date.parse(datetime.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'));
  if (datetime.slice(0, 8) !== day || !(Math.abs(Date.now() - sentAt) < SKEW_MS))
    throw new Refusal(403, 'RequestTimeTooSkewed');
  const names = signed.split(';');
  const unsigned = Object.keys(req.headers).filter(
    (name) => (name === 'host' || name === 'content-type' || name.startsWith('x-amz-')) && !names.includes(name),
  );
  if (unsigned.length > 0)
    throw new Refusal(403, 'AccessDenied', `<HeadersNotSigned>${unsigned.join()}</HeadersNotSigned>`);
  const digest = header(req, 'x-amz-content-sha256');
  const canonical = canonicalRequest(
    { method: req.method ?? '', target: req.url ?? '', headers: req.headers },
    signed,
    digest,
  );
  if (signatureOf(canonical, { region, service: 's3', datetime, secret }) !== signature)
    throw new Refusal(403, 'SignatureDoesNotMatch', `<CanonicalRequest>${escape(canonical)}</CanonicalRequest>`);
  if ((token ?? '') !== header(req, 'x-amz-security-token')) throw new Refusal(400, 'ExpiredToken');
  if (digest !== hash('sha256', body)) throw new Refusal(400, 'XAmzContentSHA256Mismatch');
}

function metadataOf(req: IncomingMessage): Pick<StoredObject, 'contentType' | 'metadata'> {
  const metadata = Object.fromEntries(
    Object.entries(req.headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') ? [[name.slice('x-amz-meta-'.length), String(value)]] : [],
    ),
  );
  const size = Object.entries(metadata).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (size > 2048) throw new Refusal(400, 'MetadataTooLarge');
  return { contentType: header(req, 'content-type') || 'binary/octet-stream', metadata };
}

/** One request behind the check of its signature. */
interface Request extends S3Call {
  readonly req: IncomingMessage;
  readonly body: Buffer;
  readonly res: ServerResponse;
}

type State = Pick<ScriptedS3, 'objects' | 'uploads' | 'page'>;

const found = <T>(value: T | undefined, code: string): T => {
  if (value === undefined) throw new Refusal(404, code);
  return value;
};

const xml = (res: ServerResponse, root: string, content: string): void =>
  void res.writeHead(200, { 'content-type': 'application/xml' }).end(document(root, content));

const OPERATIONS: Readonly<Record<string, (state: State, request: Request) => void>> = {
  LIST({ objects, page }, { query, res }) {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('continuation-token') ?? ''];
    const most = Math.min(page, Number(query.get('max-keys') ?? 1000), 1000);
    const all = [...objects]
      .filter(([key]) => key.startsWith(prefix) && key > after)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const items = all
      .slice(0, most)
      .map(
        ([key, { bytes, etag, modified }]) =>
          `<Contents><Key>${escape(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${escape(etag)}</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
      );
    const isCut = all.length > most;
    const next = isCut ? `<NextContinuationToken>${escape(all[most - 1]![0])}</NextContinuationToken>` : '';
    xml(res, 'ListBucketResult', `<IsTruncated>${isCut}</IsTruncated>${next}${items.join('')}`);
  },
  'LIST uploads'({ uploads }, { query, res }) {
    const items = [...uploads]
      .filter(([, { key }]) => key.startsWith(query.get('prefix') ?? ''))
      .map(
        ([id, { key, initiated }]) =>
          `<Upload><Key>${escape(key)}</Key><UploadId>${id}</UploadId><Initiated>${initiated.toISOString()}</Initiated></Upload>`,
      );
    xml(res, 'ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${items.join('')}`);
  },
  BEGIN({ uploads }, { key, res }) {
    const id = `upload-${uploads.size + 1}.${hash('md5', `${key}${Math.random()}`)}`;
    uploads.set(id, { key, initiated: new Date(), parts: new Map() });
    xml(res, 'InitiateMultipartUploadResult', `<Key>${escape(key)}</Key><UploadId>${id}</UploadId>`);
  },
  PART({ uploads }, { query, body, res }) {
    const { parts } = found(uploads.get(query.get('uploadId') ?? ''), 'NoSuchUpload');
    const etag = md5(body);
    parts.set(Number(query.get('partNumber')), { bytes: body, etag });
    res.writeHead(200, { etag }).end();
  },
  JOIN({ uploads, objects }, { query, key, body, res }) {
    const id = query.get('uploadId') ?? '';
    const { parts } = found(uploads.get(id), 'NoSuchUpload');
    const listed = [...body.toString().matchAll(/<Part><PartNumber>(\d+)<\/PartNumber><ETag>(.+?)<\/ETag><\/Part>/g)];
    if (listed.length === 0) throw new Refusal(400, 'MalformedXML');
    const joined = listed.map(([, number, etag], at) => {
      const part = parts.get(Number(number));
      if (Number(number) !== at + 1) throw new Refusal(400, 'InvalidPartOrder');
      if (part?.etag !== etag) throw new Refusal(400, 'InvalidPart');
      if (part!.bytes.length < LEAST_PART && at + 1 < listed.length) throw new Refusal(400, 'EntityTooSmall');
      return part!.bytes;
    });
    uploads.delete(id);
    const [bytes, etag] = [Buffer.concat(joined), `"${hash('md5', id)}-${joined.length}"`];
    objects.set(key, { bytes, etag, contentType: 'binary/octet-stream', metadata: {}, modified: new Date() });
    xml(res, 'CompleteMultipartUploadResult', `<Key>${escape(key)}</Key><ETag>${escape(etag)}</ETag>`);
  },
  ABORT({ uploads }, { query, res }) {
    if (!uploads.delete(query.get('uploadId') ?? '')) throw new Refusal(404, 'NoSuchUpload');
    res.writeHead(204).end();
  },
  COPY({ objects }, { req, key, res }) {
    const source = decodeURIComponent(header(req, 'x-amz-copy-source'));
    const start = `/${S3_BUCKET}/`;
    if (!source.startsWith(start)) throw new Refusal(403, 'AccessDenied');
    const { bytes, etag } = found(objects.get(source.slice(start.length)), 'NoSuchKey');
    objects.set(key, { bytes, etag, ...metadataOf(req), modified: new Date() });
    xml(
      res,
      'CopyObjectResult',
      `<LastModified>${new Date().toISOString()}</LastModified><ETag>${escape(etag)}</ETag>`,
    );
  },
  PUT({ objects }, { req, key, body, res }) {
    const etag = md5(body);
    objects.set(key, { bytes: body, etag, ...metadataOf(req), modified: new Date() });
    res.writeHead(200, { etag }).end();
  },
  GET({ objects }, { req, key, res }) {
    const { bytes, etag, contentType, metadata } = found(objects.get(key), 'NoSuchKey');
    const named = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]));
    const headers = { etag, 'content-type': contentType, ...named };
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(header(req, 'range')) ?? [];
    if (first === undefined) return void res.writeHead(200, headers).end(bytes);
    if (Number(first) >= bytes.length) throw new Refusal(416, 'InvalidRange');
    const part = bytes.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`;
    res.writeHead(206, { ...headers, 'content-range': range }).end(part);
  },
  DELETE({ objects }, { key, res }) {
    objects.delete(key);
    res.writeHead(204).end();
  },
};

function operationOf(req: IncomingMessage, key: string, query: URLSearchParams): string {
  const { method = '' } = req;
  if (key === '') return query.has('uploads') ? 'LIST uploads' : 'LIST';
  if (method === 'POST') return query.has('uploads') ? 'BEGIN' : 'JOIN';
  if (query.has('uploadId')) return method === 'PUT' ? 'PART' : 'ABORT';
  return req.headers['x-amz-copy-source'] === undefined ? method : 'COPY';
}

/** S3 on loopback with the bucket in the path: it checks signatures and refuses what S3 refuses (docs/protocols/files.md#s3). */
export async function startS3(credentials: S3TestCredentials): Promise<ScriptedS3> {
  const s3 = {
    objects: new Map<string, StoredObject>(),
    uploads: new Map<string, Multipart>(),
    calls: [] as string[],
    refusals: [] as string[],
    credentials,
    script: undefined as ScriptedS3['script'],
    page: 1000,
  };
  const refuse = (res: ServerResponse, { status, code, more }: Refusal): void => {
    s3.refusals.push(code);
    res.writeHead(status, { 'content-type': 'application/xml' }).end(errorOf(code, more));
  };
  function answer(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
    const url = new URL(req.url ?? '', 'http://s3');
    const [, bucket, ...rest] = url.pathname.split('/');
    const key = decodeURIComponent(rest.join('/'));
    const operation = operationOf(req, key, url.searchParams);
    const number = url.searchParams.get('partNumber');
    const does = number === null ? operation : `${operation} ${number}`;
    const request = { req, res, body, method: req.method ?? '', key, query: url.searchParams, does };
    s3.calls.push(does);
    try {
      checkSignature(req, body, s3.credentials);
      if (bucket !== S3_BUCKET) throw new Refusal(404, 'NoSuchBucket');
      if (Buffer.byteLength(key) > 1024) throw new Refusal(400, 'KeyTooLongError');
      const scripted = s3.script?.(request);
      if (scripted && !scripted.after) return reply(res, scripted);
      if (scripted) return take(operation, request, scripted);
      OPERATIONS[operation]!(s3, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(res, error);
    }
  }
  /** Has its effect, and the reply is another. */
  function take(operation: string, request: Request, scripted: Answer): void {
    const { res } = request;
    const silent = Object.assign(Object.create(res) as ServerResponse, { writeHead: () => silent, end: () => silent });
    OPERATIONS[operation]!(s3, { ...request, res: silent });
    reply(res, scripted);
  }
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req.on('data', (piece: Buffer) => pieces.push(piece));
    req.on('end', () => answer(req, res, Buffer.concat(pieces)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  return Object.assign(s3, {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function reply(res: ServerResponse, { status = 200, body = '', headers = {}, cut, endless }: Answer): void {
  if (cut) res.destroy();
  else if (endless) writeForEver(res.writeHead(status, headers));
  else res.writeHead(status, headers).end(body);
}

function writeForEver(res: ServerResponse): void {
  // A reply that is destroyed takes nothing and has no drain.
  res.once('drain', () => writeForEver(res));
  while (res.write(' '.repeat(64 * 1024)));
}

/** An error of S3 in place of its reply. */
export const s3Error = (status: number, code: string): { readonly status: number; readonly body: string } => ({
  status,
  body: errorOf(code),
});
