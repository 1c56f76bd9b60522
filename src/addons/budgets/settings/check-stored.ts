import type { Budget, GatewayKey } from '../../../../schemas/types.generated.ts';
import { parseCap } from '../../../core/tenants/amounts.ts';
import type { Report } from '../../../core/kernel/report.ts';
import { digestsOf } from '../../../core/settings/compile/api-keys.ts';
import { countedBy } from './compile-node.ts';
import type { JsonPath } from '../../../core/settings/schema/pointer.ts';
import type { Check, CheckedSettings, Reports } from '../../../core/settings/checks/check.ts';
import { priceFilesOf } from './price-files.ts';
import {
  nameOf,
  webhooksIn,
  type StoredBudget,
  type StoredKey,
  type StoredObject,
  type StoredObjects,
} from '../../../core/settings/source/stored-objects.ts';

/** An object has one owner: a file or the store. There is no precedence that a mistake could rely on. */
export const checkStored: Check = (settings) => ({
  others({ reporter }) {
    if (settings.stored && settings.stored.objects.size > 0) checkOwners(settings.stored, settings, reporter);
  },
});

function checkOwners(stored: StoredObjects, files: CheckedSettings, reporter: Reports['reporter']): void {
  const checks = new Checks(stored, new Set((files.keys?.keys ?? []).flatMap(digestsOf)));
  for (const [index, key] of (files.keys?.keys ?? []).entries())
    checks.key(key, ['keys', index], reporter('keys.yaml'));
  for (const [index, { id }] of (priceFilesOf(files).rules?.prices ?? []).entries())
    if (id !== undefined) checks.named('prices', id, ['prices', index, 'id'], reporter('prices.yaml'));
  checkCompiled(files, checks, reporter);
  for (const [index, { id }] of webhooksIn(files.server).entries())
    checks.named('alerts', id, ['alerts', 'webhooks', index, 'id'], reporter('server.yaml'));
  for (const [kind, ref] of [
    ['organizations', 'organization'],
    ['teams', 'team'],
  ] as const)
    for (const [id, node] of Object.entries(files.teams?.[kind] ?? {}))
      checks.node(
        { name: nameOf({ kind, id }), ref: `${ref}:${id}`, what: `${ref} "${id}"`, on: 'key', ...node },
        [kind, id],
        reporter('teams.yaml'),
      );
}

/** Objects that settings are compiled from: those of the store follow those of the files. */
function checkCompiled({ catalog, configIds }: CheckedSettings, checks: Checks, reporter: Reports['reporter']): void {
  const entries = catalog?.providers ?? [];
  for (const [index, { slug }] of entries.entries())
    if (entries.findLastIndex((one) => one.slug === slug) > index)
      checks.named('providers', slug, ['providers', index, 'slug'], reporter('catalog.yaml'));
  for (const [index, id] of configIds.entries())
    if (configIds.indexOf(id) < index) checks.named('configs', id, [], reporter(`gateway/${id}.yaml`));
}

interface FileNode {
  readonly name: string;
  readonly ref: string;
  readonly what: string;
  readonly on?: 'key';
  readonly budgets?: readonly Budget[];
  readonly limits?: object;
}

const NAMED = { prices: 'price', alerts: 'webhook', providers: 'the entry', configs: 'the config' } as const;

class Checks {
  readonly #objects: StoredObjects['objects'];
  readonly #byDigest: ReadonlyMap<string, StoredKey>;
  readonly #budgets: ReadonlyMap<string, readonly StoredBudget[]>;
  readonly #limits: ReadonlyMap<string, StoredObject>;

  /** @param digests of the files: most keys of a store have none of them */
  constructor({ objects }: StoredObjects, digests: ReadonlySet<string>) {
    this.#objects = objects;
    const byDigest = new Map<string, StoredKey>();
    const budgets: StoredBudget[] = [];
    const limits = new Map<string, StoredObject>();
    for (const one of objects.values())
      if (one.kind === 'keys') {
        for (const { digest } of one.value.digests) if (digests.has(digest)) byDigest.set(digest, one);
      } else if (one.kind === 'budgets' && one.problem === undefined) budgets.push(one);
      else if (one.kind === 'limits') limits.set(one.value.node, one);
    this.#byDigest = byDigest;
    this.#budgets = Map.groupBy(budgets, ({ value }) => value.node);
    this.#limits = limits;
  }

  named(kind: keyof typeof NAMED, id: string, path: JsonPath, report: Report): void {
    const twin = this.#objects.get(nameOf({ kind, id }));
    if (twin)
      report({
        path,
        message: `${NAMED[kind]} "${id}" is also in the store ${writtenBy(twin)}: remove one of the two`,
      });
  }

  key(key: GatewayKey, path: JsonPath, report: Report): void {
    const { id } = key;
    this.node(
      { ...key, name: nameOf({ kind: 'keys', id }), ref: `key:${id}`, what: `key "${id}"` },
      path,
      report,
      'id',
    );
    if (this.#objects.has(nameOf({ kind: 'keys', id }))) return;
    const same = digestsOf(key)
      .map((digest) => this.#byDigest.get(digest))
      .find((one) => one !== undefined);
    if (same) report({ path, message: `"${id}" is the same key as "${same.id}" in the store ${writtenBy(same)}` });
  }

  /** @param field names the object inside of its entry */
  node({ name, ref, what, on, budgets = [], limits }: FileNode, path: JsonPath, report: Report, field?: string): void {
    const twin = this.#objects.get(name);
    if (twin)
      report({
        path: field === undefined ? path : [...path, field],
        ...(on && { on }),
        message: `${what} is also in the store ${writtenBy(twin)}: remove one of the two`,
      });
    const stored = new Map((this.#budgets.get(ref) ?? []).map((one) => [countedOf(one.value), one]));
    for (const [index, budget] of budgets.entries()) {
      const same = stored.get(countedOf(budget));
      if (same)
        report({
          path: [...path, 'budgets', index],
          message: `the budget "${same.id}" in the store ${writtenBy(same)} counts the same: remove one of the two`,
        });
    }
    const other = this.#limits.get(ref);
    if (limits && other)
      report({
        path: [...path, 'limits'],
        on: 'key',
        message: `${what} also has limits in the store ${writtenBy(other)}: remove one of the two`,
      });
  }
}

/** Undefined for a cap that cannot be read, which another check reports. */
function countedOf(budget: Budget): string | undefined {
  try {
    return countedBy(budget, parseCap(budget.cap));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const writtenBy = ({ by, at }: StoredObject): string => `(by ${by}, ${new Date(at).toISOString().slice(0, 10)})`;
