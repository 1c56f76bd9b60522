import { address, setQuery } from '../address.ts';

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
