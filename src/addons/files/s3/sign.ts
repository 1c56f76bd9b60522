import { webcrypto } from 'node:crypto';
import type { Secret } from '../../../plugin/index.ts';
import type { BucketCall, BucketHeaders } from '../bucket-api.ts';

export interface S3Credentials {
  readonly accessKeyId: Secret;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | undefined;
}

/**
 * The headers of a call with its signature, AWS Signature Version 4. All of them are signed, and so is the digest of the body: the store
 * refuses other bytes. A body of 8 MiB is hashed on another thread.
 */
export async function signS3(
  { method, url, headers, body, bodyBytes }: BucketCall,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  { region, wallMs }: { readonly region: string; readonly wallMs: number },
): Promise<BucketHeaders> {
  const { AwsV4Signer } = await import('aws4fetch');
  const digest = await webcrypto.subtle.digest('SHA-256', bodyBytes ?? Buffer.from(body ?? ''));
  const signer = new AwsV4Signer({
    method,
    url,
    headers: { ...headers, 'x-amz-content-sha256': Buffer.from(digest).toString('hex') },
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken && { sessionToken: sessionToken.reveal() }),
    service: 's3',
    region,
    datetime: new Date(wallMs).toISOString().replaceAll(/[-:]|\.\d{3}/g, ''),
    allHeaders: true,
  });
  return Object.fromEntries((await signer.sign()).headers);
}
