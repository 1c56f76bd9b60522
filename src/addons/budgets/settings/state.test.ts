import { describe, expect, it } from 'vitest';
import { restartKeys } from '../../../core/process/restart-only.testkit.ts';

describe('a restart is needed for', () => {
  it('a store', () => {
    expect(restartKeys({}, { state: { store: { type: 'memory' } } })).toEqual(['state']);
  });

  it('another store, other kinds in it, and how long its keys last', () => {
    expect(
      restartKeys(
        { state: { store: { type: 'sqlite', dir: '/a' } } },
        { state: { store: { type: 'sqlite', dir: '/b' }, owns: ['keys'], when_down: { max_age: '1h' } } },
      ),
    ).toEqual(['state.store.dir', 'state.owns', 'state.when_down.max_age']);
  });
});
