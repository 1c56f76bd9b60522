import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explain, type AskParts } from '../explain.testkit.ts';

const CATALOG = {
  providers: ['a', 'b', 'c', 'd'].map((slug) => ({ slug, provider: 'simulator' })),
};

/** A tree of targets; a letter is a catalog entry. */
interface Tree {
  readonly strategy?: object;
  readonly targets?: readonly Tree[];
  readonly provider?: string;
  readonly name?: string;
  readonly weight?: number;
}

const target = (slug: string, more: object = {}): Tree => ({ provider: `@${slug}`, ...more });
const fallback = (targets: readonly Tree[], more: object = {}): Tree => ({
  strategy: { mode: 'fallback', ...more },
  targets,
});
const balance = (targets: readonly Tree[], more: object = {}): Tree => ({
  strategy: { mode: 'loadbalance', ...more },
  targets,
});
/** A refusal by the model never falls through to the same model. */
const ONLY_TOO_LONG = { on_errors: ['context_length'] };

const conditional = (targets: readonly Tree[]): Tree => ({
  strategy: {
    mode: 'conditional',
    // oxlint-disable-next-line unicorn/no-thenable -- the schema's own word
    conditions: [{ query: { model: 'special' }, then: 't0' }],
    default: 't1',
  },
  targets: targets.map((each, index) => ({ ...each, name: `t${index}` })),
});

const ask = (tree: Tree, { json, ...parts }: AskParts = {}) =>
  explain(
    { catalog: CATALOG, gateway: { tree: { ...tree } } },
    { config: 'tree', json: { model: 'm', ...json }, ...parts },
  );

const reasons = async (tree: Tree, parts?: AskParts) =>
  (await ask(tree, parts)).leftOut.map(({ target: path, reason }) => `${path.slice(7)}: ${reason}`);

describe('a target is listed as left out', () => {
  it('with weight 0', async () => {
    expect(await reasons(balance([target('a'), target('b', { weight: 0 })]))).toEqual(['targets[1]: weight 0']);
  });

  it('in a group with weight 0', async () => {
    const tree = balance([target('a'), { ...fallback([target('b'), target('c')]), weight: 0 }]);
    expect(await reasons(tree)).toEqual(['targets[1].targets[0]: weight 0', 'targets[1].targets[1]: weight 0']);
  });

  it('when a conditional leads elsewhere', async () => {
    const tree = conditional([target('a'), fallback([target('b'), target('c')]), target('d')]);
    expect(await reasons(tree, { json: { model: 'special' } })).toEqual([
      'targets[1].targets[0]: config leads to config.targets[0]',
      'targets[1].targets[1]: config leads to config.targets[0]',
      'targets[2]: config leads to config.targets[0]',
    ]);
  });

  it('when no failure of the previous one falls through', async () => {
    const tree = fallback([target('a'), target('b')], ONLY_TOO_LONG);
    expect(await reasons(tree)).toEqual(['targets[1]: no failure of config.targets[0] falls through to it']);
  });

  it('when an inner group stops and the outer one continues after it', async () => {
    const inner = fallback([target('a'), target('b')], ONLY_TOO_LONG);
    const tree = fallback([inner, target('c')]);
    const { targets, leftOut } = await ask(tree);
    expect(targets.map((each) => each.target)).toEqual(['config.targets[0].targets[0]', 'config.targets[1]']);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      'no failure of config.targets[0].targets[0] falls through to it',
    ]);
  });

  it('when an earlier one rejects the request itself', async () => {
    const { targets, leftOut, answer } = await ask(fallback([target('a'), target('b')]), {
      json: { model: '@nobody/m' },
    });
    expect(targets).toHaveLength(1);
    expect(answer?.code).toBe('unknown_provider');
    expect(leftOut.map(({ reason }) => reason)).toEqual(['config.targets[0] rejects the request, which ends it']);
  });

  it('only when no failure at all falls through to it', async () => {
    const weightless = balance([target('a'), target('b', { weight: 0 })], { on_errors: ['quota'] });
    const middle = fallback([weightless, target('c')], { on_errors: ['rate_limit'] });
    const { targets } = await ask(fallback([middle, target('d')], { on_errors: ['quota'] }));
    expect(targets.map(({ provider }) => provider?.slug)).toEqual(['a', 'c', 'd']);
  });

  it('when its circuit breaker is open', async () => {
    const health = new Map([['config.targets[1]', { state: 'open', retryAt: 1e9, admits: false } as const]]);
    expect(await reasons(fallback([target('a'), target('b')]), { health })).toEqual(['targets[1]: circuit_open']);
  });

  it('when only a larger model could succeed and it has the same one', async () => {
    const larger = target('c', { override_params: { model: 'larger' } });
    const tree = fallback([target('a'), target('b'), larger], ONLY_TOO_LONG);
    expect(await reasons(tree)).toEqual(['targets[1]: same_model']);
  });

  it('when the request is rejected before any target is tried', async () => {
    expect(await reasons(target('a'), { headers: { 'x-gateway-metadata': 'no json' } })).toEqual([
      ': the request is answered before any target is tried',
    ]);
  });

  it('with its name and its place', async () => {
    const { leftOut } = await ask(balance([target('a'), target('b', { weight: 0, name: 'spare' })]));
    expect(leftOut).toMatchObject([{ name: 'spare', at: { file: 'configs/gateway/tree.yaml', line: 1 } }]);
  });
});

describe('every target of a config', () => {
  const leaf = fc.record({ slug: fc.constantFrom('a', 'b', 'c', 'd'), weight: fc.constantFrom(0, 1, 5) });
  const trees = fc.letrec<{ tree: Tree; group: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 2 },
      leaf.map(({ slug, weight }) => target(slug, { weight })),
      tie('group'),
    ),
    group: fc
      .tuple(
        fc.constantFrom('fallback', 'strict', 'loadbalance', 'conditional'),
        fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
      )
      .map(([mode, targets]) => {
        if (mode === 'conditional') return conditional(targets);
        // A load balance needs a weight, a fallback takes none.
        if (mode === 'loadbalance') return balance([...targets, target('a', { weight: 1 })]);
        const plain = targets.map(({ weight: _, ...rest }) => rest);
        return fallback(plain, mode === 'strict' ? { on_errors: ['rate_limit'] } : {});
      }),
  })).group;
  const leaves = ({ targets }: Tree, path = 'config'): readonly string[] =>
    targets ? targets.flatMap((each, index) => leaves(each, `${path}.targets[${index}]`)) : [path];
  // A config has at most 20 targets.
  const tree = trees.filter((each) => leaves(each).length <= 20);

  it('is in exactly one of the two lists', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.array(fc.double({ min: 0, max: 0.999, noNaN: true })), async (config, draws) => {
        const { targets, leftOut } = await ask(config, { draws });
        const reported = [...targets, ...leftOut].map((each) => each.target);
        expect(reported.toSorted()).toEqual(leaves(config).toSorted());
        for (const { reason } of leftOut) expect(reason).not.toBe('');
      }),
      { numRuns: 25 },
    );
  });
});
