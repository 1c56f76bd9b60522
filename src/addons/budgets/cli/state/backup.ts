import { join, resolve } from 'node:path';
import type { AuditPart, KnownRow } from '../../../../core/ports/audit.ts';
import { KeyEncryptionKeys } from '../../store/rules/sealing.ts';
import { SnapshotFiles } from '../../store/snapshot-files.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';
import type { StoreCopies } from '../../../../core/ports/store-driver.ts';
import {
  ACTOR,
  onOpenStore,
  onStore,
  withReader,
  withStore,
  type ExitCode,
  type FoundStore,
  type StateOptions,
} from './read.ts';

type CopyOptions = StateOptions & { readonly copy: string };

/** `gatehouse state backup DIR`: copies the store, which may be in use, to a new folder. */
export const backupCommand = (options: CopyOptions): Promise<0 | 1 | 2> =>
  onStore(options, async (found): Promise<ExitCode> => {
    const copy = resolve(options.copy);
    const entry = await copiesOf(found).copy(found.state.store, copy);
    const { version, changed } = await withReader(found, (store) => store.entities.load(0), entry);
    options.out(`${copy}: version ${version}, ${changed.length} objects\n`);
    return 0;
  });

function copiesOf({ driver }: FoundStore): StoreCopies {
  if (typeof driver.copies === 'string') throw new StateFailure('invalid', driver.copies);
  return driver.copies;
}

const LOST =
  'gatehouse: changes after the backup are lost: a key that was revoked since then is valid again until you revoke it again\n';

/** `gatehouse state restore DIR`: puts a backup where the settings have no store, and checks that it opens with their keys. */
export const restoreCommand = (options: CopyOptions): Promise<0 | 1 | 2> =>
  onStore(options, async (found) => {
    await copiesOf(found).restore(resolve(options.copy), found.state.store);
    return withStore(found, async (store, { name }) => {
      const verdict = await store.audit.verify();
      await store.audit.add({ action: 'restore', kind: 'store', id: name }, ACTOR);
      const { version, changed } = await store.entities.load(0);
      options.out(`${name}: version ${version}, ${changed.length} objects\n`);
      options.err(LOST);
      if (!verdict.intact)
        options.err(`gatehouse: the audit of the backup was changed: row ${verdict.at}: ${verdict.reason}\n`);
      return verdict.intact ? 0 : 1;
    });
  });

/** `gatehouse state accept-rollback`: revoked keys and old caps of an earlier version are in force again. The gateway must not run. */
export const acceptRollbackCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onOpenStore(options, async (store, { name, state }) => {
    const ring = KeyEncryptionKeys.parse(state.encryptionKeys?.reveal());
    const { version } = await store.entities.load(0);
    const files = new SnapshotFiles(join(state.dir ?? '', 'snapshots'), ring.derive('snapshot'));
    const later = files.newest();
    if (later <= version) {
      options.out(`${name}: version ${version}; no later version was seen, so there is nothing to accept\n`);
      return 0;
    }
    const reason = `version ${later} to ${version}`;
    await store.audit.add({ action: 'accept_rollback', kind: 'store', id: name, reason }, ACTOR);
    files.forgetAfter(version);
    options.out(`${name}: version ${version} is accepted in place of version ${later}\n`);
    return 0;
  });

interface VerifyOptions extends StateOptions {
  /** The last row at some time. */
  readonly head: KnownRow | undefined;
}

/** `gatehouse state verify`: checks the chain of the audit. Exit code 1: a row was changed, removed or swapped. */
export const verifyCommand = (options: VerifyOptions): Promise<0 | 1 | 2> =>
  onStore(options, async (found) => {
    const { head, out, err } = options;
    const ring = KeyEncryptionKeys.parse(found.state.encryptionKeys?.reveal());
    const verdict = await withReader(found, (store) => store.audit.verify(head));
    if (!verdict.intact) {
      err(`audit: row ${verdict.at}: ${verdict.reason}\n`);
      return 1;
    }
    out(`audit: ${verdict.rows} rows, intact; the last row is ${verdict.seq}:${verdict.head}\n`);
    for (const part of verdict.parts) out(`rows ${part.from} to ${part.to}: ${PROOFS[part.proof](part)}\n`);
    const last = verdict.parts.at(-1);
    if (last?.proof === 'none' && ring.names.length > 0)
      out('no row has a key yet, although state.encryption_keys has one: the next row of the gateway will\n');
    if (last && !head) out(WITHOUT_HEAD);
    return 0;
  });

/** The claim that the hashes of a part support. */
const PROOFS: Readonly<Record<AuditPart['proof'], (part: AuditPart) => string>> = {
  none: () =>
    'no key: no row was changed by mistake, but all of them may have been replaced with write access to the store. With state.encryption_keys, later rows have a key',
  key: ({ key }) => `the key ${key}: only a holder of state.encryption_keys can have written them`,
  unknown_key: ({ to }) =>
    `not verifiable up to row ${to}: state.encryption_keys has no such key, so these rows prove nothing`,
};

const WITHOUT_HEAD =
  'This does not show whether later rows were removed: compare with --head SEQ:HASH, a last row that was noted outside the store, as the log has it\n';
