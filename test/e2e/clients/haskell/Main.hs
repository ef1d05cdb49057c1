-- | Drives a server with the official Haskell client, as its users do.
--
-- Its arguments are a namespace, which exists and is empty, a group, which has no definition yet,
-- and perhaps a kubeconfig of a user who has a certificate. The server is named by the environment
-- variable KUBECONFIG.
module Main (main) where

import qualified Builtin
import qualified Custom
import qualified Data.Text as Text
import Harness
import qualified Raw
import System.Environment (getArgs, getEnv)
import System.Exit (die)
import qualified Watching

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    namespace : group : certificate -> do
      kubeconfig <- getEnv "KUBECONFIG"
      client <- connect kubeconfig
      let space = Text.pack namespace
      mapM_ step (Builtin.steps client space)
      mapM_ step (Custom.steps client space (Text.pack group))
      mapM_ step (Raw.steps client space kubeconfig certificate)
      mapM_ step (Watching.steps client space)
      finished
    _ -> die "usage: client NAMESPACE GROUP [KUBECONFIG]"
