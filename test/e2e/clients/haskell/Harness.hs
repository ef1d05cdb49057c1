{-# LANGUAGE FlexibleContexts #-}
{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}

-- | Runs named steps and tells the Go test that started this program about them: one JSON
-- document a line on standard output, replies on standard input. It also has what all steps need
-- of the client.
module Harness where

import Control.Concurrent (threadDelay)
import Control.Concurrent.STM (newTVarIO)
import Control.Exception (SomeException, throwIO, try)
import Control.Monad (unless)
import Data.Aeson (FromJSON, Key, Value (..), eitherDecode, encode, fromJSON, object, (.=))
import qualified Data.Aeson as A
import qualified Data.Aeson.KeyMap as KeyMap
import qualified Data.ByteString.Lazy.Char8 as BL
import Data.Maybe (fromMaybe)
import Data.Text (Text)
import Data.Time.Clock (addUTCTime, getCurrentTime)
import GHC.Stack (HasCallStack, callStack, prettyCallStack)
import Kubernetes.Client (KubeConfigSource (KubeConfigFile), mkKubeClientConfig)
import Kubernetes.OpenAPI
import Network.HTTP.Client (Manager, responseBody, responseStatus)
import Network.HTTP.Types (statusCode)
import System.IO (hFlush, stdout)

-- | A step returns why it cannot be run, if it cannot.
type Step = IO (Maybe Text)

-- | What a client of a kubeconfig is here.
data Connection = Connection Manager KubernetesClientConfig

-- | The client for a user of a kubeconfig.
connect :: FilePath -> IO Connection
connect file = do
  cache <- newTVarIO mempty
  uncurry Connection <$> mkKubeClientConfig cache (KubeConfigFile file)

say :: Value -> IO ()
say document = BL.putStrLn (encode document) >> hFlush stdout

-- | Runs one step and reports how it went; a failure does not end the program.
step :: (Text, Step) -> IO ()
step (name, run) =
  try run >>= \case
    Right skipped -> say (object ["step" .= name, "ok" .= True, "skipped" .= fromMaybe "" skipped])
    Left e -> say (object ["step" .= name, "ok" .= False, "message" .= show (e :: SomeException)])

-- | A step that can always be run.
always :: IO () -> Step
always = (Nothing <$)

finished :: IO ()
finished = say (object ["finished" .= True])

-- | Has the Go test do something to the server, and tells whether it could.
ask :: Text -> IO Bool
ask what = say (object ["ask" .= what]) >> ("done" ==) <$> getLine

wrong :: HasCallStack => String -> IO a
wrong what = throwIO (userError (what ++ "\n" ++ prettyCallStack callStack))

equal :: (HasCallStack, Eq a, Show a) => a -> a -> IO ()
equal got want = holds (got == want) ("got " ++ show got ++ ", want " ++ show want)

holds :: HasCallStack => Bool -> String -> IO ()
holds is otherwise' = unless is (wrong otherwise')

-- | Makes a request that has to be good.
send ::
  (HasCallStack, Produces req accept, MimeUnrender accept res, MimeType contentType) =>
  Connection -> KubernetesRequest req contentType res accept -> IO res
send (Connection manager config) request =
  dispatchMime' manager config request >>= either (wrong . show) pure

-- | Makes a request that has to fail with this code and reason, and returns the Status' message.
refused ::
  (HasCallStack, Produces req accept, MimeUnrender accept res, MimeType contentType) =>
  Int -> Text -> Connection -> KubernetesRequest req contentType res accept -> IO Text
refused code reason (Connection manager config) request = do
  MimeResult result response <- dispatchMime manager config request
  holds (either (const True) (const False) result) ("not refused: " ++ show (responseBody response))
  status <- decoded (responseBody response)
  equal
    (statusCode (responseStatus response), v1StatusKind status, v1StatusCode status, v1StatusReason status)
    (code, Just "Status", Just code, Just reason)
  pure (fromMaybe "" (v1StatusMessage status))

-- | Tells whether a request, of somebody who may make it, finds nothing.
missing ::
  (MimeType accept, MimeType contentType) =>
  Connection -> KubernetesRequest req contentType res accept -> IO Bool
missing (Connection manager config) request =
  (404 ==) . statusCode . responseStatus <$> dispatchLbsUnsafe manager config request

decoded :: (HasCallStack, FromJSON a) => BL.ByteString -> IO a
decoded bytes = either (\e -> wrong (e ++ ": " ++ show bytes)) pure (eitherDecode bytes)

-- | The model of a document, for those that have too many fields to be written.
model :: (HasCallStack, FromJSON a) => Value -> IO a
model document = case fromJSON document of
  A.Success made -> pure made
  A.Error e -> wrong e

-- | A field of a document, or null.
at :: [Key] -> Value -> Value
at (key : rest) (Object fields) = at rest (fromMaybe Null (KeyMap.lookup key fields))
at (_ : _) _ = Null
at [] found = found

-- | Waits until something is true.
eventually :: HasCallStack => String -> IO Bool -> IO ()
eventually what is = do
  late <- addUTCTime 60 <$> getCurrentTime
  let look =
        is >>= \found -> unless found $ do
          now <- getCurrentTime
          holds (now < late) (what ++ ": not after a minute")
          threadDelay 50000
          look
  look

json :: Accept MimeJSON
json = Accept MimeJSON

body :: ContentType MimeJSON
body = ContentType MimeJSON

-- | Metadata of just a name.
named :: Text -> V1ObjectMeta
named name = mkV1ObjectMeta {v1ObjectMetaName = Just name}

-- | Says that a literal is a text.
text :: Text -> Text
text = id
