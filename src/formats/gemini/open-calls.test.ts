import { describe, expect, it } from 'vitest';
import { OpenCalls } from './open-calls.ts';

describe('Calls without an answer', () => {
  it('are found by id, and by name in their order', () => {
    const open = new OpenCalls();
    for (const id of ['1', '2', '3']) open.add({ id, name: id === '2' ? 'g' : 'f' });
    expect(open.byId('2')).toEqual({ id: '2', name: 'g' });
    expect(open.byName('f')?.id).toBe('1');
    open.remove(open.byId('1')!);
    expect(open.byName('f')?.id).toBe('3');
    expect(open.byId('1')).toBeUndefined();
    expect(open.byName('h')).toBeUndefined();
  });

  it('of one id are answered one after the other', () => {
    const open = new OpenCalls();
    open.add({ id: '1', name: 'f' });
    open.add({ id: '1', name: 'g' });
    open.remove(open.byId('1')!);
    expect(open.byId('1')?.name).toBe('g');
  });
});
