import type { ComponentChildren } from 'preact';
import { address, setQuery } from '../address.ts';
import { ButtonLink } from './button.tsx';
import { plural } from './format.ts';
import { Empty } from './states.tsx';

const words = (): string => address.value.query.get('q') ?? '';

/** A text has what was typed into the field. */
export const hasWords = (text: string): boolean => text.toLowerCase().includes(words().toLowerCase());

/** Words that rows of the page have, kept in its address. */
export const SearchField = ({ label }: { readonly label: string }) => (
  <div class="filter">
    <input
      id="filter"
      aria-label={label}
      placeholder={label}
      maxLength={256}
      value={words()}
      onInput={(event) => setQuery({ q: event.currentTarget.value })}
    />
  </div>
);

export interface NothingProps {
  /** Rows without the words. */
  readonly total: number;
  readonly noun: string;
  readonly add: readonly [label: string, href: string];
  readonly children: ComponentChildren;
}

/** No row: there is none yet, or none has the words. */
export const Nothing = ({ total, noun, add: [label, href], children }: NothingProps) => (
  <Empty title={total === 0 ? `No ${noun} yet` : 'Nothing matches'}>
    <p>{total === 0 ? children : `The words hide ${plural(total, noun)}.`}</p>
    <p>
      {total === 0 ? (
        <ButtonLink label={label} href={href} />
      ) : (
        <ButtonLink label="Clear the search" href={`#${address.value.path}`} />
      )}
    </p>
  </Empty>
);
