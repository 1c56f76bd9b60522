import { describe, expect, it } from 'vitest';
import { Secret } from '../../../plugin/index.ts';
import { compileFiles } from './files.ts';

const S3 = {
  bucket: 'team-files',
  region: 'eu-central-1',
  access_key_id: new Secret('id'),
  secret_access_key: new Secret('secret'),
};

describe('the address of a bucket of S3', () => {
  it.each([
    ['https://team-files.s3.eu-central-1.amazonaws.com', {}],
    ['https://team-files.s3.cn-north-1.amazonaws.com.cn', { region: 'cn-north-1' }],
    ['https://s3.eu-central-1.amazonaws.com/team.files', { bucket: 'team.files', path_style: true }],
    ['http://127.0.0.1:9000/team-files', { endpoint: 'http://127.0.0.1:9000' }],
    ['https://team-files.fsn1.example.com', { endpoint: 'https://fsn1.example.com', path_style: false }],
  ])('is %s', (bucketUrl, more) => {
    expect(compileFiles({ s3: { ...S3, ...more } }).place).toMatchObject({ bucketUrl });
  });
});
