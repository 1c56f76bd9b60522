import { describe, expect, it } from 'vitest';
import { crashLog } from './process-faults.ts';

const at = new Date(0);

describe('the crash log of a process', () => {
  it('names the error and its place in one line, without the objects attached to the error', () => {
    const cause = Object.assign(new TypeError('deep'), { code: 'E_DEEP', body: 'canary' });
    const error = Object.assign(new Error('broken\nhere', { cause }), { headers: { 'x-acme-api-key': 'canary' } });
    const line = crashLog(error, at);
    expect(line).not.toContain('canary');
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toMatchObject({
      level: 'fatal',
      time: '1970-01-01T00:00:00.000Z',
      err: {
        type: 'Error',
        message: 'broken\nhere',
        stack: expect.stringContaining('process-faults.test.ts'),
        cause: { type: 'TypeError', code: 'E_DEEP' },
      },
    });
  });

  it.each(['Bearer canary-0123456789', 'sk-canary-0123456789', '-----BEGIN PRIVATE KEY-----\ncanary'])(
    'hides text that looks like a credential: %j',
    (secret) => expect(crashLog(new Error(`it was ${secret}`), at)).not.toContain('canary'),
  );

  it.each(['canary', { canary: 1 }, undefined, Symbol('canary')])(
    'reports a thrown value that is not an error without its content: %s',
    (thrown) => {
      expect(JSON.parse(crashLog(thrown, at))).toMatchObject({ err: { type: typeof thrown } });
      expect(crashLog(thrown, at)).not.toContain('canary');
    },
  );

  it('is finite even if errors cause each other', () => {
    const error = new Error('round');
    error.cause = error;
    expect(crashLog(error, at).match(/"cause"/g)).toHaveLength(3);
  });
});
