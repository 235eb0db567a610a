// The role of the holder of the token: a viewer may look, an admin may act, too.

let role = 'viewer';

export const mayAct = () => role === 'admin';
export const setRole = (next) => {
  role = next;
};
