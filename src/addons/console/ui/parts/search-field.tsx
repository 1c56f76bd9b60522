import type { ComponentChildren } from 'preact';
import { address, setQuery } from '../address.ts';
import { plural } from './format.ts';
import { Empty } from './states.tsx';

/** Words that rows of the page have, kept in its address. */
export const SearchField = ({ label }: { readonly label: string }) => (
  <div class="filter">
    <input
      id="filter"
      aria-label={label}
      placeholder={label}
      maxLength={256}
      value={address.value.query.get('q') ?? ''}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  </div>
);

interface NothingProps {
  /** Rows without the words. */
  readonly total: number;
  readonly noun: string;
  readonly add: readonly [label: string, to: string];
  readonly children: ComponentChildren;
}

/** No row: there is none yet, or none has the words. */
export const Nothing = ({ total, noun, add: [label, to], children }: NothingProps) => (
  <Empty title={total === 0 ? `No ${noun} yet` : 'Nothing matches'}>
    <p>{total === 0 ? children : `The words hide ${plural(total, noun)}.`}</p>
    <p>
      <a class="button" href={total === 0 ? to : `#${address.value.path}`}>
        {total === 0 ? label : 'Clear the search'}
      </a>
    </p>
  </Empty>
);
