// What the holder of the token may do: to look, or to act as well.

let role = 'viewer';

export const mayAct = () => role === 'admin';
export const setRole = (next) => {
  role = next;
};
