import { describe, expect, it } from 'vitest';
import type { BudgetObject, KeyObject } from '../../api/shapes.ts';
import { spentShare } from '../../parts/budget-bar.tsx';
import { filterTree, limitText, treeOf, type TeamObject } from './tree.ts';

const meta = { owner: 'store', etag: '', updated_by: null, updated_at: null };
const key = (id: string, team?: string): KeyObject => ({
  ...meta,
  id,
  spec: { ...(team !== undefined && { team }) },
  state: 'active',
  credentials: [],
  last_used: null,
});
const team = (id: string, organization?: string) =>
  ({ ...meta, id, spec: { ...(organization !== undefined && { organization }) } }) as TeamObject;
const budget = (node: string, cap: number, spent: number | null) => ({ id: node, node, cap, spent }) as BudgetObject;

const nodes = treeOf({
  organizations: [{ ...meta, id: 'acme', spec: {} }],
  teams: [team('search', 'acme'), team('alone'), team('lost', 'gone')],
  keys: [key('web', 'search'), key('free'), key('a', 'alone'), key('orphan', 'nowhere')],
  budgets: [budget('team:search', 100, 80)],
});

describe('the tree', () => {
  it('has each organization, team and key once, each below its own', () =>
    expect(nodes.map(({ id, depth, budgets }) => [id, depth, budgets.length])).toEqual([
      ['acme', 0, 0],
      ['search', 1, 1],
      ['web', 2, 0],
      ['alone', 0, 0],
      ['a', 1, 0],
      ['lost', 0, 0],
      ['free', 0, 0],
      ['orphan', 0, 0],
    ]));

  it('keeps what is above a node that a search finds', () =>
    expect(filterTree(nodes, 'WEB').map(({ id }) => id)).toEqual(['acme', 'search', 'web']));

  it('says how much of a budget is spent, and nothing where it is unknown', () =>
    expect([
      spentShare(budget('a', 100, 80)),
      spentShare(budget('a', 100, null)),
      spentShare(budget('a', 0, 1)),
    ]).toEqual([0.8, undefined, undefined]));

  it('writes a limit as words', () =>
    expect([limitText(['a', 'b']), limitText({ requests: '600/m', on_exceeded: 'warn' }), limitText('x')]).toEqual([
      'a, b',
      'requests 600/m, on exceeded warn',
      'x',
    ]));
});
