import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../../core/kernel/outside/thrown.ts';
import { StateFailure } from '../../../../core/ports/failures.ts';

/** A folder with this file has moved to another store, or a move has begun. */
const NAME = 'moved.json';

interface MovedMark {
  /** Names the store that takes its place, for people. */
  readonly to: string;
  readonly isDone: boolean;
}

/** Undefined: there is none. */
export function readMark(folder: string): MovedMark | undefined {
  const path = join(folder, NAME);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as MovedMark;
  } catch {
    throw new StateFailure('damaged', `${path} is not what \`gatehouse state migrate\` writes`);
  }
}

/** The file is whole after a power failure, or as it was before. */
export function writeMark(folder: string, mark: MovedMark): void {
  const path = join(folder, NAME);
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify(mark)}\n`, { mode: 0o600, flush: true });
    renameSync(`${path}.new`, path);
    const parent = openSync(folder, 'r');
    fsyncSync(parent);
    closeSync(parent);
  } catch (error) {
    throw new StateFailure('unavailable', `${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Two stores that both count one budget would spend it twice. */
export function refuseMoved(folder: string): void {
  const mark = readMark(folder);
  if (!mark) return;
  const path = join(folder, NAME);
  throw new StateFailure(
    'invalid',
    mark.isDone
      ? `the store of ${folder} has moved to ${mark.to}: name that one in \`state.store\`. Without ${path} the gateway starts with what this folder had before the move`
      : `the store of ${folder} is on its way to ${mark.to}: run \`gatehouse state migrate --to\` again, or remove ${path} and what was written there`,
  );
}
