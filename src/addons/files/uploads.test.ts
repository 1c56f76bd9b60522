import { describe, expect, it } from 'vitest';
import { Uploads } from './uploads.ts';

describe('uploads', () => {
  it('of one key are a quarter of all once half of them are in use', () => {
    const uploads = new Uploads();
    const ends = Array.from({ length: 4 }, () => uploads.begin('a', 8));
    expect(() => uploads.begin('a', 8)).toThrow('files.uploads: 8');
    uploads.begin('b', 8);
    uploads.begin('b', 8);
    expect(() => uploads.begin('b', 8)).toThrow('files.uploads');
    ends[0]!();
    ends[0]!();
    uploads.begin('c', 8);
    uploads.begin('d', 8);
    uploads.begin('e', 8);
    expect(() => uploads.begin('f', 8)).toThrow('files.uploads');
  });

  it('that are refused have a `retry-after` in their error', () => {
    const uploads = new Uploads();
    uploads.begin('a', 1);
    expect(() => uploads.begin('b', 1)).toThrow(expect.objectContaining({ code: 'busy', retryAfterMs: 5000 }));
  });
});
