{-# LANGUAGE OverloadedStrings #-}

-- | Steps that follow changes: a watch, and one whose history is gone, which its user recovers from
-- by listing again.
module Watching (steps) where

import Control.Monad (forM_)
import Data.Aeson (Value (..), object, (.=))
import qualified Data.ByteString.Lazy as BL
import Data.List (sort)
import qualified Data.Map as Map
import Data.Maybe (mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import Harness
import qualified Kubernetes.Client as Client
import Kubernetes.OpenAPI
import qualified Kubernetes.OpenAPI.API.CoreV1 as Core
import qualified Streaming.ByteString.Char8 as Bytes
import qualified Streaming.Prelude as Streaming

steps :: Connection -> Text -> [(Text, Step)]
steps client space =
  [ ("watch", always (changes client namespace)),
    ("watch ends after timeoutSeconds", always (timeout client namespace)),
    ("bookmarks", always (bookmarks client namespace)),
    ("recovery from 410", recovery client namespace)
  ]
  where
    namespace = Namespace space

type List = KubernetesRequest Core.ListNamespacedConfigMap MimeNoContent V1ConfigMapList MimeJSON

watched :: Namespace -> List
watched namespace = Core.listNamespacedConfigMap json namespace -&- LabelSelector "watched=yes"

create, touch, remove :: Connection -> Namespace -> Text -> IO ()

create client namespace name = do
  let meta = (named name) {v1ObjectMetaLabels = Just (Map.fromList [("watched", "yes")])}
  _ <- send client (Core.createNamespacedConfigMap body json mkV1ConfigMap {v1ConfigMapMetadata = Just meta} namespace)
  pure ()

touch client namespace name = do
  let change = Body (object ["data" .= object ["touched" .= text "yes"]])
  _ <- send client (Core.patchNamespacedConfigMap (ContentType MimeMergePatchjson) json change (Name name) namespace)
  pure ()

remove client namespace name = do
  _ <- send client (Core.deleteNamespacedConfigMap body json (Name name) namespace)
  pure ()

-- | The names in a list, and its revision.
list :: Connection -> Namespace -> IO ([Text], ResourceVersion)
list client namespace = do
  got <- send client (watched namespace)
  let names = mapMaybe (\item -> v1ConfigMapMetadata item >>= v1ObjectMetaName) (v1ConfigMapListItems got)
  revision <- maybe (wrong (show got)) pure (v1ConfigMapListMetadata got >>= v1ListMetaResourceVersion)
  pure (sort names, ResourceVersion revision)

-- | Watches until an event that is wanted, or the end, and returns all events.
events :: Connection -> List -> (Client.WatchEvent Value -> Bool) -> IO [Client.WatchEvent Value]
events (Connection manager config) from wanted =
  Client.dispatchWatch manager config from (next [] . Streaming.mapped Bytes.toStrict . Bytes.lines)
  where
    next seen stream = do
      more <- Streaming.next stream
      case more of
        Left () -> pure (reverse seen)
        Right (line, rest) -> do
          event <- decoded (BL.fromStrict line)
          if wanted event then pure (reverse (event : seen)) else next (event : seen) rest

-- | What an event is about: its type, and a name or the code of a Status.
about :: Client.WatchEvent Value -> Text
about event =
  Client.eventType event <> " " <> case (at ["metadata", "name"] found, at ["code"] found) of
    (String name, _) -> name
    (_, Number code) -> Text.pack (show (round code :: Int))
    _ -> "?"
  where
    found = Client.eventObject event

follow :: Connection -> Namespace -> ResourceVersion -> Text -> IO [Text]
follow client namespace revision wanted =
  map about <$> events client (watched namespace -&- revision) ((wanted ==) . about)

changes :: Connection -> Namespace -> IO ()
changes client namespace = do
  (_, start) <- list client namespace
  forM_ [create, touch, remove] $ \change -> change client namespace "seen"
  seen <- follow client namespace start "DELETED seen"
  equal seen ["ADDED seen", "MODIFIED seen", "DELETED seen"]

timeout :: Connection -> Namespace -> IO ()
timeout client namespace = do
  (_, revision) <- list client namespace
  seen <- events client (watched namespace -&- revision -&- TimeoutSeconds 1) (const False)
  equal (map about seen) []

bookmarks :: Connection -> Namespace -> IO ()
bookmarks client namespace = do
  -- A watch from no revision tells by one where what there is ends.
  seen <- events client (watched namespace -&- AllowWatchBookmarks True) (const True)
  equal (map Client.eventType seen) ["BOOKMARK"]
  forM_ (map Client.eventObject seen) $ \marked -> do
    holds (at ["metadata", "resourceVersion"] marked /= Null) (show marked)
    equal (at ["metadata", "annotations"] marked) (object ["k8s.io/initial-events-end" .= text "true"])

recovery :: Connection -> Namespace -> Step
recovery client namespace = do
  create client namespace "stays"
  create client namespace "goes"
  (_, old) <- list client namespace
  remove client namespace "goes"
  create client namespace "comes"
  could <- ask "lose history"
  if could
    then Nothing <$ recovered old
    else pure (Just "the history of this server cannot be taken away")
  where
    recovered old = do
      gone <- follow client namespace old "ERROR 410"
      equal gone ["ERROR 410"]
      (names, again) <- list client namespace
      equal names ["comes", "stays"]
      touch client namespace "stays"
      seen <- follow client namespace again "MODIFIED stays"
      equal seen ["MODIFIED stays"]
