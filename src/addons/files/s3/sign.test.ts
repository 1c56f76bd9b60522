import { AwsV4Signer } from 'aws4fetch';
import { describe, expect, it } from 'vitest';
import { canonicalRequest, signatureOf } from '../../../../test/support/s3-signature.ts';
import { Secret } from '../../../plugin/index.ts';
import { signS3 } from './sign.ts';

const hex = (authorization: string | null | undefined): string | undefined =>
  /Signature=([0-9a-f]{64})$/.exec(authorization ?? '')?.[1];

/**
 * "Signature calculations for the authorization header: transferring payload in a single chunk", Amazon S3 API reference
 * (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html): its four examples.
 */
const S3_EXAMPLES = [
  {
    title: 'GET Object with a range',
    call: {
      method: 'GET',
      url: 'https://examplebucket.s3.amazonaws.com/test.txt',
      headers: { range: 'bytes=0-9' },
    },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    title: 'PUT Object',
    call: {
      method: 'PUT',
      url: 'https://examplebucket.s3.amazonaws.com/test$file.text',
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: 'Welcome to Amazon S3.',
    },
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    title: 'GET Bucket Lifecycle',
    call: { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?lifecycle' },
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
  {
    title: 'GET Bucket (List Objects)',
    call: { method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J' },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
] as const;

const CREDENTIALS = {
  accessKeyId: new Secret('AKIAIOSFODNN7EXAMPLE'),
  secretAccessKey: new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'),
  sessionToken: undefined,
};
const SCOPE = { region: 'us-east-1', wallMs: Date.UTC(2013, 4, 24) };

describe('a call of S3', () => {
  it.each(S3_EXAMPLES)('has the signature of Amazon’s example: $title', async ({ call, signature }) => {
    const headers = await signS3(call, CREDENTIALS, SCOPE);
    expect(hex(headers['authorization'])).toBe(signature);
  });

  it.each(S3_EXAMPLES)('is read by the test server as in Amazon’s example: $title', async ({ call, signature }) => {
    const { authorization = '', ...headers } = await signS3(call, CREDENTIALS, SCOPE);
    const [, signed = ''] = /SignedHeaders=([^,]+)/.exec(authorization) ?? [];
    const { host, pathname, search } = new URL(call.url);
    const seen = { method: call.method, target: pathname + search, headers: { ...headers, host } };
    const canonical = canonicalRequest(seen, signed, headers['x-amz-content-sha256'] ?? '');
    const datetime = headers['x-amz-date'] ?? '';
    const scope = { region: 'us-east-1', service: 's3', datetime, secret: CREDENTIALS.secretAccessKey.reveal() };
    expect(signatureOf(canonical, scope)).toBe(signature);
  });

  it('signs the session token of temporary credentials, all its headers, and the digest of its body', async () => {
    const call = { method: 'PUT', url: 'http://127.0.0.1:9000/b/k', headers: { 'content-type': 'a/b' } } as const;
    const bodyBytes = Buffer.from('hello');
    const headers = await signS3(
      { ...call, bodyBytes },
      { ...CREDENTIALS, sessionToken: new Secret('temporary') },
      SCOPE,
    );
    expect(headers).toMatchObject({
      'x-amz-security-token': 'temporary',
      'x-amz-content-sha256': '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
      'x-amz-date': '20130524T000000Z',
    });
    expect(headers['authorization']).toContain(
      'SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
    );
  });
});

/** The suite `aws-sig-v4-test-suite` that Amazon published with Signature Version 4, as AWS SDKs still carry it. */
const SUITE = [
  ['get-vanilla', 'GET', '/', {}, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    'GET',
    '/?Param2=value2&Param1=value1',
    {},
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  ['post-vanilla', 'POST', '/', {}, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
  [
    'post-header-key-sort',
    'POST',
    '/',
    { 'my-header1': 'value1' },
    'c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c',
  ],
] as const;

describe('Amazon’s test suite of Signature Version 4', () => {
  const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
  const datetime = '20150830T123600Z';

  it.each(SUITE)('%s holds for the library and for the test server', async (_, method, target, more, signature) => {
    const scope = { region: 'us-east-1', service: 'service', datetime };
    const signer = new AwsV4Signer({
      method,
      url: `https://example.amazonaws.com${target}`,
      headers: more,
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: secret,
      ...scope,
    });
    expect(hex((await signer.sign()).headers.get('authorization'))).toBe(signature);
    const headers: Record<string, string> = { ...more, host: 'example.amazonaws.com', 'x-amz-date': datetime };
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    const canonical = canonicalRequest({ method, target, headers }, Object.keys(headers).toSorted().join(';'), empty);
    expect(signatureOf(canonical, { ...scope, secret })).toBe(signature);
  });
});
