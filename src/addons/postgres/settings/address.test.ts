import { describe, expect, it } from 'vitest';
import { nameOfAddress, readAddress, type DatabaseAddress } from './address.ts';

describe('the address of a database', () => {
  it.each([
    ['postgres://ann:p%40ss@db.example:6432/gate', ['db.example', 6432, 'ann', 'p@ss', 'gate', false]],
    ['postgresql://ann@db.example/gate', ['db.example', 5432, 'ann', '', 'gate', false]],
    ['postgres://ann:x@localhost/gate', ['localhost', 5432, 'ann', 'x', 'gate', true]],
    ['postgres://ann:x@127.0.0.9/gate', ['127.0.0.9', 5432, 'ann', 'x', 'gate', true]],
    ['postgres://ann:x@[::1]:5433/gate', ['::1', 5433, 'ann', 'x', 'gate', true]],
    ['postgres://ann:x@127.0.0.1.example/gate', ['127.0.0.1.example', 5432, 'ann', 'x', 'gate', false]],
  ] as const)('%s', (text, parts) => {
    const { host, port, user, password, database, isLoopback } = readAddress(text) as DatabaseAddress;
    expect([host, port, user, password, database, isLoopback]).toEqual(parts);
  });

  it.each([
    ['https://ann:canary@db.example/gate', 'begins otherwise'],
    ['db.example', 'cannot be parsed'],
    ['postgres://ann:canary@db.example', 'is missing'],
    ['postgres://db.example/gate', 'is missing'],
    ['postgres://ann:canary@db.example/gate/other', 'is missing'],
    ['postgres://ann:canary%zz@db.example/gate', 'write `%25`'],
    ['postgres://ann:canary@db.example/gate?sslmode=disable', 'has parameters'],
    ['postgres://ann:canary@db.example/gate?host=/tmp', 'has parameters'],
    ['postgres://ann:canary@db.example/gate#x', 'has parameters'],
  ])('is refused without its password: %s', (text, reason) => {
    const refusal = readAddress(text) as string;
    expect(refusal).toContain(reason);
    expect(refusal).not.toContain('canary');
  });

  it('is shown without its user and password', () => {
    expect(nameOfAddress(readAddress('postgres://ann:canary@[::1]/gate') as DatabaseAddress)).toBe(
      'postgres://[::1]:5432/gate',
    );
  });
});
